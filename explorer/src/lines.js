// A long list of lines, of which only the visible ones are in the document.
import { h } from "./dom.js";

/** The height of a line in pixels; `style.css` has the same. */
const HEIGHT = 20;
const MARGIN = 20;

/**
 * Lines of monospaced text. A line has `text`, and may have `class`, `gutter`, `depth`, `place` (the
 * key of the source line that it comes from) and `title`.
 */
export class Lines {
    #lines = [];
    #marked = new Set();
    #cursor = -1;

    constructor({ label, onChoose }) {
        this.onChoose = onChoose;
        this.#view = h("div", { class: "lines-view" });
        this.#room = h("div", { class: "lines-room" }, this.#view);
        this.element = h("div", {
            class: "lines",
            tabIndex: 0,
            role: "listbox",
            "aria-label": label,
            onscroll: () => this.#draw(),
            onkeydown: (event) => this.#key(event),
        }, this.#room);
        new ResizeObserver(() => this.#draw()).observe(this.element);
    }

    #view;
    #room;

    show(lines) {
        this.#lines = lines;
        this.#cursor = -1;
        const widest = lines.reduce((most, line) => Math.max(most, line.text.length + 2 * (line.depth ?? 0)), 0);
        this.#room.style.height = `${lines.length * HEIGHT}px`;
        this.#room.style.minWidth = `${widest + 8}ch`;
        this.element.scrollTop = 0;
        this.#draw();
    }

    /** Marks the lines that come from a place, and scrolls to the first of them. */
    mark(place, scroll = true) {
        this.#marked.clear();
        this.#lines.forEach((line, at) => {
            if (place !== null && line.place === place) this.#marked.add(at);
        });
        const [first] = this.#marked;
        if (scroll && first !== undefined) this.#reveal(first);
        this.#draw();
        return this.#marked.size;
    }

    /** Puts the cursor on the line with a name. */
    find(name) {
        const at = this.#lines.findIndex((line) => line.name === name);
        if (at >= 0) this.#move(at);
    }

    #reveal(at) {
        const { scrollTop, clientHeight } = this.element;
        const top = at * HEIGHT;
        if (top < scrollTop || top + HEIGHT > scrollTop + clientHeight)
            this.element.scrollTop = Math.max(0, top - clientHeight / 3);
    }

    #move(at) {
        this.#cursor = at;
        this.#reveal(at);
        this.#draw();
    }

    #key(event) {
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 };
        const step = steps[event.key];
        if (step === undefined || !this.#lines.length) return;
        event.preventDefault();
        const at = Math.min(this.#lines.length - 1, Math.max(0, this.#cursor + step));
        this.#move(at);
        this.onChoose(this.#lines[at]);
    }

    #draw() {
        const { scrollTop, clientHeight } = this.element;
        const first = Math.max(0, Math.floor(scrollTop / HEIGHT) - MARGIN);
        const last = Math.min(this.#lines.length, Math.ceil((scrollTop + clientHeight) / HEIGHT) + MARGIN);
        this.#view.style.transform = `translateY(${first * HEIGHT}px)`;
        this.#view.replaceChildren(...this.#lines.slice(first, last).map((line, index) => this.#line(line, first + index)));
    }

    #line(line, at) {
        const classes = ["line", line.class, this.#marked.has(at) && "marked", at === this.#cursor && "cursor"];
        return h("div", {
            class: classes.filter(Boolean).join(" "),
            role: "option",
            "aria-selected": String(at === this.#cursor),
            title: line.title ?? "",
            onclick: () => {
                this.#move(at);
                this.onChoose(line);
            },
        },
        h("span", { class: "gutter" }, line.gutter ?? String(at + 1)),
        h("span", { class: "text", style: `padding-left:${2 * (line.depth ?? 0)}ch` }, line.text));
    }
}
