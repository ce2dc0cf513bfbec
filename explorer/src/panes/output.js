// What is emitted? C, its header, or assembly language, line by line with the source.
import { counted, h } from "../dom.js";
import { Lines } from "../lines.js";

export class Output {
    #column;
    #form;

    constructor(column, form) {
        this.#column = column;
        this.#form = form;
        this.note = h("p", { class: "note" });
        this.lines = new Lines({ label: form === "c" ? "C" : "assembly language", onChoose: (line) => column.choose(line) });
        this.header = h("input", { type: "checkbox", onchange: () => this.show() });
        this.copy = h("button", { class: "plain", onclick: () => this.#copy() }, "Copy");
        this.element = h("div", { class: "listing" },
            h("div", { class: "tools" }, this.note,
                form === "c" ? h("label", {}, this.header, " header") : null, this.copy),
            this.lines.element);
    }

    async show() {
        const form = this.header.checked ? "header" : this.#form;
        const output = await this.#column.ask({ ask: "output", form }, (refusal) => {
            this.text = "";
            this.lines.show([]);
            this.note.textContent = `${refusal[0].toUpperCase()}${refusal.slice(1)}.`;
        });
        if (!output) return;
        this.text = output.text;
        const places = new Map(output.places.map(([line, file, at]) => [line, [file, at]]));
        const lines = output.text.split("\n");
        lines.pop();
        this.lines.show(lines.map((text, at) => {
            const place = places.get(at);
            const range = place && { file: place[0], from: [place[1], 0], to: [place[1], 0] };
            return { text, range, place: place && `${place[0]}:${place[1]}` };
        }));
        this.note.textContent = counted(lines.length, "line");
        this.#column.remark();
    }

    mark(place, scroll) {
        return this.lines.mark(place, scroll);
    }

    async #copy() {
        await navigator.clipboard?.writeText(this.text ?? "");
        this.copy.textContent = "Copied";
        setTimeout(() => (this.copy.textContent = "Copy"), 1500);
    }
}
