// Which resource binds? Instructions by kind, and how long each port and unit is busy.
import { counted, h, number } from "../dom.js";

export class Ports {
    #column;

    constructor(column) {
        this.#column = column;
        this.element = h("div", { class: "padded", tabIndex: 0 });
    }

    mark() {
        return 0;
    }

    async show() {
        const found = await this.#column.ask({ ask: "ports" });
        if (!found) return;
        const { cpu, instances, bound, instructions, loads, stores } = found;
        const total = instructions.reduce((sum, [, , count]) => sum + count, 0);
        const bar = (name, value, most, text, binds) => h("tr", { class: binds ? "binds" : "" },
            h("th", { scope: "row" }, name),
            h("td", {}, h("div", { class: "bar", style: `width:${most ? (value / most) * 100 : 0}%` })),
            h("td", { class: "figure" }, text));
        const parts = [];
        if (bound && bound.cycles > 0) {
            const each = bound.cycles / instances;
            parts.push(h("p", { class: "note" },
                `On the model ${cpu} a call for ${counted(instances, "instance")} takes at least ${number(bound.cycles)} cycles, ${number(each)} for each. Bound by: ${bound.by}. The bound knows no latencies, spills or caches.`));
            parts.push(h("h2", {}, "Cycles of resources"), h("table", { class: "bars" },
                bound.resources.map(([name, cycles]) => bar(name, cycles, bound.cycles, number(cycles), cycles >= bound.cycles * 0.999))));
            parts.push(h("h2", {}, "Cycles of ports, with work spread evenly"), h("table", { class: "bars" },
                bound.ports.map((cycles, port) => bar(`port ${port}`, cycles, bound.cycles, number(cycles), cycles >= bound.cycles * 0.999))));
        } else {
            parts.push(h("p", { class: "note" }, bound ? "The kernel computes nothing: it only moves words." : `The model ${cpu} has no figures for these registers.`));
        }
        parts.push(h("h2", {}, `${counted(total, "instruction")}, ${counted(loads, "load")} and ${counted(stores, "store")} of a call`), h("table", { class: "bars" },
            instructions.map(([name, lane, count]) => bar(lane ? `${name}, ${lane}-bit lanes` : name, count, instructions[0][2], number(count)))));
        this.element.replaceChildren(...parts);
    }
}
