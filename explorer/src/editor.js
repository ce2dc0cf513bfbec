// The source, with findings, facts and completions from the compiler.
import { autocompletion } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { forEachDiagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import {
    Decoration, EditorView, drawSelection, highlightActiveLine, hoverTooltip, keymap, lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { h } from "./dom.js";

/** Words that open declarations and bodies, beside types. */
const TYPE = /^(?:u(?:\d+|'m)?(?:x\d+)?|v\d+|b\d+|nat)$/;

function language(keywords) {
    const words = new Set(keywords.filter((word) => /^\w+$/.test(word)));
    return StreamLanguage.define({
        token(stream) {
            if (stream.eatSpace()) return null;
            if (stream.match(/#.*/)) return "comment";
            if (stream.match(/"[^"]*"?/)) return "string";
            if (stream.match(/0x[0-9a-fA-F_]+|0b[01_]+|\d[\d_]*/)) return "number";
            if (stream.match(/[A-Za-z_][\w']*/)) {
                const word = stream.current();
                if (TYPE.test(word)) return "typeName";
                return words.has(word) ? "keyword" : "variableName";
            }
            stream.next();
            return "operator";
        },
        languageData: { commentTokens: { line: "#" } },
    });
}

const colours = HighlightStyle.define([
    { tag: tags.comment, color: "var(--quiet)" },
    { tag: tags.keyword, color: "var(--accent)" },
    { tag: tags.typeName, color: "var(--type)" },
    { tag: tags.number, color: "var(--number)" },
    { tag: tags.string, color: "var(--number)" },
]);

const setMarks = StateEffect.define();
const marks = StateField.define({
    create: () => Decoration.none,
    update(value, transaction) {
        for (const effect of transaction.effects)
            if (effect.is(setMarks)) return effect.value;
        return value.map(transaction.changes);
    },
    provide: (field) => EditorView.decorations.from(field),
});

/** The offset of a place; places of an older text may be behind the end. */
function offset(doc, [line, column]) {
    if (line >= doc.lines) return doc.length;
    const { from, to } = doc.line(line + 1);
    return Math.min(from + column, to);
}

function place(doc, at) {
    const line = doc.lineAt(at);
    return { line: line.number - 1, column: at - line.from };
}

export class Editor {
    /** `ask` answers `hover` and `complete` for the text as it is. */
    constructor({ keywords, ask, onChange, onLine }) {
        this.ask = ask;
        this.onChange = onChange;
        this.onLine = onLine;
        this.extensions = [
            lineNumbers(), history(), drawSelection(), bracketMatching(), highlightActiveLine(), lintGutter(), marks,
            language(keywords), syntaxHighlighting(colours),
            autocompletion({ override: [(context) => this.#complete(context)] }),
            hoverTooltip((view, at) => this.#hover(view, at)),
            keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
            EditorView.contentAttributes.of({ "aria-label": "source" }),
            EditorView.updateListener.of((update) => {
                if (update.docChanged && !this.quiet) this.onChange(this.text());
                if (update.selectionSet && !update.docChanged && !this.quiet)
                    this.onLine(place(update.state.doc, update.state.selection.main.head).line);
            }),
        ];
        this.view = new EditorView({ state: this.#state("") });
        this.element = this.view.dom;
    }

    #state(doc) {
        return EditorState.create({ doc, extensions: this.extensions });
    }

    text() {
        return this.view.state.doc.toString();
    }

    /** Another program; its history begins anew. */
    open(text) {
        this.view.setState(this.#state(text));
    }

    /** New text for the whole program, which can be undone. */
    replace(text) {
        this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: text } });
    }

    apply(edits) {
        const { doc } = this.view.state;
        const changes = edits.map(([range, insert]) => ({ from: offset(doc, range.from), to: offset(doc, range.to), insert }));
        this.view.dispatch({ changes });
    }

    showFindings(findings) {
        const { doc } = this.view.state;
        const shown = findings.filter(({ range }) => range && range.file === 0).map((finding) => ({
            from: offset(doc, finding.range.from),
            to: offset(doc, finding.range.to),
            severity: finding.severity,
            source: finding.code,
            message: finding.help ? `${finding.message}\nhelp: ${finding.help}` : finding.message,
            actions: finding.edits.length
                ? [{ name: "repair", apply: () => this.apply(finding.edits) }]
                : [],
        }));
        this.view.dispatch(setDiagnostics(this.view.state, shown));
    }

    findings() {
        let count = 0;
        forEachDiagnostic(this.view.state, () => count++);
        return count;
    }

    /** Marks a part of the text, or a whole line, and shows it. */
    mark(range) {
        const { doc } = this.view.state;
        if (!range) {
            this.view.dispatch({ effects: setMarks.of(Decoration.none) });
            return;
        }
        const [from, to] = [offset(doc, range.from), offset(doc, range.to)];
        const whole = Decoration.line({ class: "cm-marked" }).range(doc.lineAt(from).from);
        const part = from < to ? [Decoration.mark({ class: "cm-marked-part" }).range(from, to)] : [];
        this.view.dispatch({
            effects: [setMarks.of(Decoration.set([whole, ...part], true)), EditorView.scrollIntoView(from, { y: "nearest", yMargin: 40 })],
        });
    }

    goTo(range) {
        const at = offset(this.view.state.doc, range.from);
        this.view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
        this.view.focus();
    }

    async #hover(view, at) {
        const found = await this.ask("hover", place(view.state.doc, at));
        if (!found) return null;
        const sentence = (line) => h("p", {}, line.split("`").map((part, n) => (n % 2 ? h("code", {}, part) : part)));
        const dom = h("div", { class: "hover" }, found.code && h("pre", {}, found.code), found.lines.map(sentence));
        return { pos: offset(view.state.doc, found.range.from), create: () => ({ dom }) };
    }

    async #complete(context) {
        const word = context.matchBefore(/[\w']*/);
        if (!context.explicit && (!word || word.from === word.to)) return null;
        const found = await this.ask("complete", place(context.state.doc, context.pos));
        return {
            from: word ? word.from : context.pos,
            options: found.map(({ label, kind, detail }) => ({ label, detail: detail.length > 60 ? "" : detail, info: detail.length > 60 ? detail : undefined, type: kind || "keyword" })),
            validFor: /^[\w']*$/,
        };
    }
}
