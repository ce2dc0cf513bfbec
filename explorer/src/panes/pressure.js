// Where do values leave the registers? Live values along the schedule, against the register file.
import { counted, h, number, svg } from "../dom.js";

const [WIDTH, HEIGHT] = [800, 280];
const [LEFT, BOTTOM, TOP] = [44, 28, 12];

export class Pressure {
    #column;
    #found;
    #at = 0;

    constructor(column) {
        this.#column = column;
        this.note = h("p", { class: "note" });
        this.chart = h("div", { class: "chart", tabIndex: 0, role: "slider", "aria-label": "equation of the schedule", onkeydown: (event) => this.#key(event) });
        this.chosen = h("p", { class: "chosen-value", "aria-live": "polite" });
        this.element = h("div", { class: "padded", tabIndex: 0 }, this.note, this.chart, this.chosen);
    }

    async show() {
        this.#found = await this.#column.ask({ ask: "pressure" });
        if (!this.#found) return;
        const { registers, most, reloads, live } = this.#found;
        const above = live.filter((count) => count > registers).length;
        this.note.textContent = above
            ? `At ${counted(above, "equation")} of ${number(live.length)} more values are live than the ${number(registers)} registers hold; ${counted(reloads, "value")} would be loaded again.`
            : `At most ${counted(most, "value")} of ${number(registers)} registers ${most === 1 ? "is" : "are"} live in the entry: all fit.`;
        this.#at = Math.max(0, live.indexOf(Math.max(...live)));
        this.#draw();
    }

    mark() {
        return 0;
    }

    #draw() {
        const { registers, live } = this.#found;
        this.chart.setAttribute("aria-valuemin", "0");
        this.chart.setAttribute("aria-valuemax", String(live.length - 1));
        if (!live.length) {
            this.chart.replaceChildren(h("p", { class: "note" }, "The entry has no equations."));
            this.chosen.textContent = "";
            return;
        }
        const top = Math.max(registers, ...live) * 1.08;
        const x = (at) => LEFT + ((WIDTH - LEFT) * at) / live.length;
        const y = (count) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / top);
        const path = (cut) => `M${x(0)},${y(cut)}` + live.map((count, at) => `V${y(Math.max(cut, count))}H${x(at + 1)}`).join("") + `V${y(cut)}Z`;
        this.cursor = svg("line", { class: "cursor-line", y1: TOP, y2: HEIGHT - BOTTOM });
        const drawing = svg("svg", {
            viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true",
            onclick: (event) => this.#click(event),
        },
        svg("path", { class: "area", d: path(0) }),
        live.some((count) => count > registers) ? svg("path", { class: "above", d: path(registers) }) : null,
        svg("line", { class: "limit", x1: LEFT, x2: WIDTH, y1: y(registers), y2: y(registers) }),
        this.cursor);
        const label = (text, left, at) => h("span", { class: "label", style: `left:${(left / WIDTH) * 100}%;top:${(at / HEIGHT) * 100}%` }, text);
        this.chart.replaceChildren(drawing,
            label(`${registers} registers`, LEFT + 4, y(registers) - 20),
            label(number(Math.max(...live)), 0, y(Math.max(...live)) - 8), label("0", 0, y(0) - 10),
            label("first equation", LEFT, HEIGHT - BOTTOM + 6), h("span", { class: "label right", style: `top:${((HEIGHT - BOTTOM + 6) / HEIGHT) * 100}%` }, `equation ${number(live.length)}`));
        this.x = x;
        this.#choose(this.#at, false);
    }

    #choose(at, tell = true) {
        this.#at = at;
        const { live, names, places, registers } = this.#found;
        const middle = this.x(at + 0.5);
        this.cursor.setAttribute("x1", middle);
        this.cursor.setAttribute("x2", middle);
        const over = live[at] - registers;
        const text = `Equation ${number(at + 1)} defines ${names[at]}; ${counted(live[at], "value")} live${over > 0 ? `, ${number(over)} more than registers` : ""}.`;
        this.chosen.textContent = text;
        this.chart.setAttribute("aria-valuenow", String(at));
        this.chart.setAttribute("aria-valuetext", text);
        if (tell) this.#column.choose({ range: places[at], name: names[at] });
    }

    #click(event) {
        const box = event.currentTarget.getBoundingClientRect();
        const across = ((event.clientX - box.left) / box.width) * WIDTH;
        const { live } = this.#found;
        const at = Math.floor(((across - LEFT) / (WIDTH - LEFT)) * live.length);
        if (at >= 0 && at < live.length) this.#choose(at);
    }

    #key(event) {
        const { live } = this.#found ?? { live: [] };
        const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9 }[event.key];
        if (step === undefined || !live.length) return;
        event.preventDefault();
        this.#choose(Math.min(live.length - 1, Math.max(0, this.#at + step)));
    }
}
