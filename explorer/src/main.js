// The page: a program on the left, what the compiler knows about it on the right.
import { Column, PANES } from "./column.js";
import { Compiler } from "./compiler.js";
import { counted, h } from "./dom.js";
import { Editor } from "./editor.js";
import { key } from "./panes/stages.js";
import { read, written } from "./share.js";

const { programs } = window.usuba;
const FIRST = "rectangle/rectangle80_encrypt";
const OWN = "own";
/** Milliseconds without a key before the compiler is asked. */
const CALM = 120;

const version = document.querySelector('meta[name="usuba-version"]').content;

const find = (name) => {
    for (const { folder, functions } of programs.ciphers)
        for (const one of functions) if (`${folder}/${one.name}` === name) return one;
    return undefined;
};

/** The files of a built-in program, by its name. */
const filesOf = ({ files }) => Object.fromEntries(files.map((name) => [name, programs.files[name]]));

class Page {
    columns = [];
    tab = "stages";
    #timer;
    #run = 0;

    async start() {
        this.compiler = new Compiler((fault) => this.#fault(fault));
        this.catalogue = await this.compiler.ask({ ask: "catalogue" });
        this.editor = new Editor({
            keywords: this.catalogue.keywords,
            ask: (ask, place) => this.compiler.ask({ ask, text: this.text(), ...place }).catch(() => (ask === "complete" ? [] : null)),
            onChange: () => this.#edited(),
            onLine: (line) => this.#lineChosen(line),
        });
        this.#build();
        addEventListener("hashchange", () => this.#restore(location.hash));
        const given = JSON.parse(document.getElementById("program").textContent);
        if (location.hash) await this.#restore(location.hash);
        else this.#open(given ?? { program: FIRST });
        document.documentElement.dataset.ready = "true";
    }

    // --- the program ---------------------------------------------------------------------------

    text() {
        return { root: this.root, files: { ...this.files, [this.root]: this.editor.text() } };
    }

    /** Opens a state: a built-in program by its name, or files. */
    #open(state) {
        const known = state.program && find(state.program);
        if (state.program && !known) {
            this.#notice(`This page has no program ${state.program}.`);
            return this.root ? undefined : this.#open({ program: FIRST });
        }
        this.program = known ? state.program : OWN;
        this.root = known ? known.root : state.root;
        this.files = known ? filesOf(known) : state.files;
        this.editor.quiet = true;
        this.editor.open(this.files[this.root] ?? "");
        this.editor.quiet = false;
        const usual = { slicing: "V", target: "avx2", cpu: "generic", ...known?.settings };
        const settings = state.settings ?? [usual];
        this.#setColumns(settings.slice(0, 2).map((own) => ({ ...usual, ...own })));
        this.columns.forEach((column, at) => (column.wantedStage = state.stages?.[at]));
        this.#tabs(PANES[state.tab] ? state.tab : this.tab);
        this.menu.value = this.program;
        this.own.hidden = this.program !== OWN;
        document.title = `${this.root} - Usuba explorer`;
        return this.#compile();
    }

    async #restore(hash) {
        try {
            const state = await read(hash);
            if (!state) throw new Error("it is not of this page");
            await this.#open(state);
        } catch (error) {
            this.#notice(`The link cannot be read: ${error.message}.`);
            if (!this.root) await this.#open({ program: FIRST });
        }
    }

    state() {
        const { root, files } = this.text();
        const known = find(this.program);
        const same = known && files[root] === programs.files[root];
        const state = same ? { program: this.program } : { root, files };
        return { ...state, settings: this.columns.map(({ settings }) => settings), tab: this.tab, stages: this.columns.map(({ panes }) => panes.stages.stage), version };
    }

    #edited() {
        if (this.program !== OWN) {
            this.program = OWN;
            this.menu.value = OWN;
            this.own.hidden = false;
        }
        this.compiler.hurry();
        this.changed();
    }

    /** The text or the settings changed: compiles after a moment. */
    changed() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#compile(), CALM);
    }

    async #compile() {
        const run = ++this.#run;
        const checked = await this.compiler.ask({ ask: "check", text: this.text() }).catch(() => null);
        if (run !== this.#run || !checked) return;
        this.formatted = checked.formatted;
        this.format.disabled = !checked.formatted;
        this.#entries(checked.nodes, checked.findings.some(({ severity }) => severity === "error"));
        this.#showFindings(checked.findings);
        for (const column of this.columns) {
            const answer = await column.compile();
            if (run !== this.#run) return;
            if (answer?.findings) this.#showFindings([...checked.findings, ...answer.findings.filter((one) => !checked.findings.some(({ message }) => message === one.message))]);
        }
    }

    #showFindings(findings) {
        this.editor.showFindings(findings);
        const row = (finding) => {
            const { severity, code, message, help, range, edits } = finding;
            const here = range && range.file === 0;
            return h("li", { class: severity },
                h("button", { class: "plain", disabled: !here, onclick: () => this.editor.goTo(range) },
                    h("span", { class: "code" }, `${severity} ${code}`), here ? ` line ${range.from[0] + 1}: ` : " ", message),
                help ? h("p", {}, help) : null,
                edits.length ? h("button", { onclick: () => this.editor.apply(edits) }, "Repair") : null);
        };
        this.findings.replaceChildren(...findings.map(row));
        const errors = findings.filter(({ severity }) => severity === "error").length;
        const warnings = findings.length - errors;
        const parts = [errors && counted(errors, "error"), warnings && counted(warnings, "warning")].filter(Boolean);
        this.count.textContent = parts.join(", ") || "no findings";
        this.count.className = errors ? "error" : warnings ? "warning" : "quiet";
    }

    // --- places --------------------------------------------------------------------------------

    /** A line of a pane is chosen: shows the source, and the same place in the other column. */
    choose(range, from) {
        this.editor.mark(range && range.file === 0 ? range : null);
        const place = range ? key(range) : null;
        for (const column of this.columns) column.mark(place, column !== from);
    }

    #lineChosen(line) {
        this.editor.mark({ from: [line, 0], to: [line, 0] });
        for (const column of this.columns) column.mark(`0:${line}`);
    }

    // --- the frame -----------------------------------------------------------------------------

    #build() {
        const options = programs.ciphers.map(({ title, folder, functions }) => h("optgroup", { label: title },
            functions.map(({ name }) => h("option", { value: `${folder}/${name}` }, name))));
        this.own = h("option", { value: OWN, hidden: true }, "own program");
        this.menu = h("select", { "aria-label": "program", onchange: () => this.#open({ program: this.menu.value, settings: undefined, tab: this.tab }) }, this.own, options);
        this.entry = h("select", { "aria-label": "entry", onchange: () => this.#setEntry(this.entry.value) });
        this.format = h("button", { disabled: true, onclick: () => this.editor.replace(this.formatted) }, "Format");
        this.share = h("button", { onclick: () => this.#share() }, "Share");
        this.compare = h("button", { "aria-pressed": "false", onclick: () => this.#compare() }, "Compare");
        this.theme = h("button", { "aria-label": "light or dark", onclick: () => this.#theme() }, "◐");
        this.notice = h("p", { class: "notice", role: "alert", hidden: true });
        this.findings = h("ul", { class: "findings" });
        this.count = h("span", { class: "quiet", role: "status" });
        this.tabList = h("div", { class: "tabs", role: "tablist", onkeydown: (event) => this.#tabKey(event) },
            Object.entries({ source: "Source", ...PANES }).map(([name, title]) => h("button", {
                role: "tab", id: `tab-${name}`, class: `tab tab-${name}`, onclick: () => this.#tabs(name),
            }, title)));
        this.source = h("section", { class: "source", "aria-label": "program" },
            h("div", { class: "tools" }, h("label", {}, h("span", {}, "entry "), this.entry), this.format, this.count),
            this.editor.element, this.findings);
        this.work = h("div", { class: "work" });
        this.main = h("main", {}, this.source, h("div", { class: "results" }, this.tabList, this.work));
        document.getElementById("page").replaceChildren(
            h("header", {}, h("h1", {}, "Usuba explorer"), this.menu, h("div", { class: "actions" }, this.compare, this.share, this.theme)),
            this.notice, this.main);
    }

    #setColumns(settings) {
        this.columns = settings.map((own, slot) => new Column(this, slot, own));
        this.work.replaceChildren(...this.columns.map(({ element }) => element));
        this.compare.setAttribute("aria-pressed", String(settings.length > 1));
        this.main.classList.toggle("compares", settings.length > 1);
    }

    #compare() {
        const [first] = this.columns;
        const settings = { ...first.settings };
        if (this.columns.length > 1) this.#setColumns([settings]);
        else this.#setColumns([settings, { ...settings, target: settings.target === "avx512" ? "avx2" : "avx512", cpu: "generic" }]);
        this.#tabs(this.tab === "source" ? "stages" : this.tab);
        this.#compile();
    }

    /** The nodes of the program; an entry that an edit removed is no longer asked for. */
    #entries(nodes, isBroken) {
        const [name] = (this.columns[0].settings.entry ?? "").split(/[(<]/);
        if (name && !isBroken && !nodes.includes(name)) for (const { settings } of this.columns) settings.entry = undefined;
        const wanted = this.columns[0].settings.entry ?? "";
        const known = wanted && !nodes.includes(wanted) ? [wanted, ...nodes] : nodes;
        this.entry.replaceChildren(h("option", { value: "" }, "the last node"), ...known.map((node) => h("option", { value: node, selected: node === wanted }, node)));
    }

    #setEntry(entry) {
        for (const { settings } of this.columns) settings.entry = entry || undefined;
        this.changed();
    }

    #tabs(tab) {
        this.tab = tab;
        this.main.classList.toggle("shows-source", tab === "source");
        for (const button of this.tabList.children) {
            const chosen = button.id === `tab-${tab}`;
            button.setAttribute("aria-selected", String(chosen));
            button.tabIndex = chosen ? 0 : -1;
        }
        if (tab === "source") return;
        for (const column of this.columns) {
            column.pane.setAttribute("aria-labelledby", `tab-${tab}`);
            column.show(tab);
        }
    }

    #tabKey(event) {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const shown = [...this.tabList.children].filter((button) => button.offsetParent);
        const at = shown.findIndex((button) => button.getAttribute("aria-selected") === "true");
        const next = shown[(at + step + shown.length) % shown.length];
        next.click();
        next.focus();
    }

    async #share() {
        history.replaceState(null, "", await written(this.state()));
        const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
        this.#notice(copied ? "The link is copied; it has the whole program." : "The address of this page is now the link; it has the whole program.");
    }

    #theme() {
        const dark = document.documentElement.dataset.theme
            ? document.documentElement.dataset.theme === "dark"
            : matchMedia("(prefers-color-scheme: dark)").matches;
        document.documentElement.dataset.theme = dark ? "light" : "dark";
        for (const column of this.columns) if (this.tab !== "source") column.show(this.tab);
    }

    #notice(text) {
        this.notice.textContent = text;
        this.notice.hidden = false;
        clearTimeout(this.noticeTimer);
        this.noticeTimer = setTimeout(() => (this.notice.hidden = true), 6000);
    }

    #fault(fault) {
        this.#notice(`The compiler stopped by a fault of its own. Please report it with a link to this program (Share): ${fault}`);
        clearTimeout(this.noticeTimer);
    }
}

window.usuba.page = new Page();
window.usuba.page.start();
