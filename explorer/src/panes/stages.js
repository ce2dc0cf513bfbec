// Which pass did this? The stages of a compilation, and the equations of one, against those before.
import { counted, h, number } from "../dom.js";
import { Lines } from "../lines.js";

const GUTTER = { same: "", new: "+", changed: "~", moved: "↕", gone: "−" };
const MEANING = {
    new: "a new value",
    changed: "the same value, computed in another way",
    moved: "the same equation at another place",
    gone: "a value that is no longer there",
};

export const key = (range) => `${range.file}:${range.from[0]}`;

export class Stages {
    #column;
    #compilation;
    #stage = 0;
    #marks = new Map();

    constructor(column) {
        this.#column = column;
        this.filter = h("input", { type: "search", placeholder: "find a pass", "aria-label": "find a pass", oninput: () => this.#list() });
        this.hide = h("input", { type: "checkbox", checked: true, onchange: () => this.#list() });
        this.list = h("div", { class: "stage-list", role: "listbox", tabIndex: 0, "aria-label": "stages", onkeydown: (event) => this.#key(event) });
        this.changes = h("p", { class: "note" });
        this.lines = new Lines({ label: "equations", onChoose: (line) => column.choose(line) });
        this.element = h("div", { class: "split" },
            h("div", { class: "stages" },
                h("div", { class: "tools" }, this.filter, h("label", {}, this.hide, " changed only")),
                this.list),
            h("div", { class: "listing" }, this.changes, this.lines.element));
    }

    get stage() {
        return this.#stage;
    }

    /** Another compilation; the stage of the same name stays chosen. */
    async show(compilation, wanted) {
        if (compilation !== this.#compilation) this.#marks.clear();
        this.#compilation = compilation;
        await this.choose(Math.min(wanted ?? this.#stage, compilation.stages.length - 1));
    }

    async choose(stage) {
        this.#stage = stage;
        this.#list();
        const listing = await this.#column.ask({ ask: "stage", stage });
        if (!listing || stage !== this.#stage) return;
        const parts = ["new", "changed", "moved", "gone"].filter((state) => listing[state]);
        const counts = parts.map((state) => h("span", { class: `state-${state}`, title: MEANING[state] }, `${GUTTER[state]} ${number(listing[state])} ${state}`));
        const { pass } = this.#compilation.stages[stage];
        this.changes.replaceChildren(
            h("strong", {}, stage ? `after ${pass}` : "after lowering"), " ",
            ...(counts.length ? counts : [stage ? "no equation differs" : counted(listing.lines.length, "line")]),
            listing.cut ? h("span", { class: "warning" }, `; ${number(listing.cut)} more lines are not shown`) : "");
        this.lines.show(listing.lines.map(({ depth, text, name, state, range }) => ({
            depth, text, name, range, class: `state-${state}`, gutter: GUTTER[state], title: MEANING[state],
            place: range ? key(range) : undefined,
        })));
        this.#column.remark();
    }

    mark(place, scroll) {
        return this.lines.mark(place, scroll);
    }

    /** A claim of the proof about a stage. */
    proved(claim) {
        if (claim.stage === null) return;
        this.#marks.set(claim.stage, claim);
        this.#list();
    }

    #shown() {
        const wanted = this.filter.value.trim().toLowerCase();
        return this.#compilation.stages
            .map((stage, at) => ({ ...stage, at, before: this.#compilation.stages[at - 1] }))
            .filter(({ pass, changed, at }) =>
                pass.includes(wanted) && (changed || at === this.#stage || !this.hide.checked));
    }

    #list() {
        if (!this.#compilation) return;
        const difference = (now, before) => {
            if (!before || now === before) return number(now);
            return `${number(now)} (${now > before ? "+" : "−"}${number(Math.abs(now - before))})`;
        };
        const rows = this.#shown().map(({ pass, changed, at, operations, live, before }) => {
            const claim = this.#marks.get(at);
            return h("div", {
                class: `stage${at === this.#stage ? " chosen" : ""}${changed ? "" : " unchanged"}`,
                role: "option", "aria-selected": String(at === this.#stage),
                onclick: () => this.choose(at),
            },
            h("span", { class: "pass" }, pass),
            h("span", { class: "figure", title: "operations of one run" }, difference(operations, before?.operations)),
            h("span", { class: "figure", title: "largest number of live values" }, `${difference(live, before?.live)} live`),
            h("span", { class: `verdict ${claim?.verdict ?? ""}`, title: claim ? `${claim.verdict} ${claim.engines || claim.reason}` : "" }, claim ? (claim.verdict === "PROVED" ? "✓" : "✗") : ""));
        });
        this.list.replaceChildren(...(rows.length ? rows : [h("p", { class: "note" }, "No pass has this name.")]));
    }

    #key(event) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const shown = this.#shown();
        const at = shown.findIndex((stage) => stage.at === this.#stage);
        const next = shown[Math.min(shown.length - 1, Math.max(0, at + step))];
        if (next) this.choose(next.at);
    }
}
