// What does a table cost, and how strong is it? Its circuit, drawn by depth, and its properties.
import { counted, h, number, svg } from "../dom.js";

const GATE_SETS = { basic: "and, or, xor, not", andn: "with and-not", lut3: "functions of three bits" };
const [STEP, ROW, GATE] = [76, 26, 52];
/** Larger circuits are listed, and not drawn: nobody follows so many lines. */
const MOST_DRAWN = 150;

const SIGNS = { xor: "⊕", and: "∧", or: "∨", not: "¬", andn: "¬∧" };

export class Circuits {
    #column;
    #tables = [];
    #table = 0;
    #gates = 0;

    constructor(column) {
        this.#column = column;
        this.element = h("div", { class: "padded", tabIndex: 0 });
    }

    mark() {
        return 0;
    }

    async show() {
        this.#tables = (await this.#column.ask({ ask: "circuits" })) ?? this.#tables;
        this.#table = Math.min(this.#table, Math.max(0, this.#tables.length - 1));
        this.#draw();
    }

    #draw() {
        const table = this.#tables[this.#table];
        if (!table) {
            this.element.replaceChildren(h("p", { class: "note" }, "The program has no tables of at most 8 bits."));
            return;
        }
        const choose = (label, options, value, onChoose) => h("label", {}, label, " ", h("select", {
            "aria-label": label, onchange: (event) => {
                onChoose(event.target.selectedIndex);
                this.#draw();
            },
        }, options.map((option, at) => h("option", { selected: at === value }, option))));
        const circuit = table.circuits[this.#gates];
        const { properties } = table;
        this.element.replaceChildren(
            h("div", { class: "tools" },
                choose("table", this.#tables.map(({ name }) => name), this.#table, (at) => (this.#table = at)),
                choose("gates", table.circuits.map(({ gates }) => GATE_SETS[gates] ?? gates), this.#gates, (at) => (this.#gates = at))),
            h("p", { class: "note" }, `${counted(table.inputs, "input bit")}, ${counted(table.outputs, "output bit")}: ${counted(circuit.list.length, "gate")}, depth ${number(circuit.depth)}, ${counted(circuit.live, "live wire")} at most.`),
            circuit.list.length <= MOST_DRAWN
                ? h("div", { class: "scroll" }, drawing(table, circuit))
                : h("p", { class: "note" }, `The circuit is too large to be drawn; a drawing has at most ${MOST_DRAWN} gates.`),
            properties ? propertiesOf(table, properties) : "");
    }
}

/** Gates in columns by their depth, the inputs on the left. */
function drawing(table, circuit) {
    const inputs = table.inputs;
    const level = Array(inputs).fill(0);
    for (const [, operands] of circuit.list) level.push(1 + Math.max(0, ...operands.map((wire) => level[wire])));
    const columns = [];
    level.forEach((at, wire) => (columns[at] ??= []).push(wire));
    const deepest = columns.length;
    const place = new Map();
    columns.forEach((wires, at) => {
        // The order of operands keeps lines short.
        const mean = (wire) => {
            const operands = wire < inputs ? [wire] : circuit.list[wire - inputs][1];
            return operands.reduce((sum, operand) => sum + (place.get(operand)?.[1] ?? operand * ROW), 0) / (operands.length || 1);
        };
        const sorted = at === 0 ? wires : wires.map((wire) => [mean(wire), wire]).sort((a, b) => a[0] - b[0]).map(([, wire]) => wire);
        sorted.forEach((wire, row) => place.set(wire, [at * STEP, row * ROW + 4]));
    });
    const rows = Math.max(...columns.map((wires) => wires.length), circuit.outputs.length);
    const height = rows * ROW + 12;
    const width = (deepest + 1) * STEP;
    const lines = [];
    const line = (from, [x, y]) => {
        const [a, b] = place.get(from);
        const start = a + GATE;
        const middle = (start + x) / 2;
        lines.push(svg("path", { class: "wire", d: `M${start},${b + 9}C${middle},${b + 9} ${middle},${y + 9} ${x},${y + 9}`, "data-from": String(from) }));
    };
    const boxes = level.map((_, wire) => {
        const [x, y] = place.get(wire);
        const isInput = wire < inputs;
        const [name, operands] = isInput ? [`x${wire}`, []] : circuit.list[wire - inputs];
        operands.forEach((operand) => line(operand, [x, y]));
        const text = isInput ? name : (SIGNS[name] ?? name.replace("lut3 ", ""));
        return svg("g", { class: isInput ? "gate input" : "gate", transform: `translate(${x},${y})` },
            svg("title", {}, isInput ? `input bit ${wire}` : `${name} of ${operands.map((o) => (o < inputs ? `x${o}` : `gate ${o - inputs + 1}`)).join(", ")}`),
            svg("rect", { width: GATE, height: 18, rx: 2 }), svg("text", { x: GATE / 2, y: 13 }, text));
    });
    circuit.outputs.forEach((wire, at) => {
        const [x, y] = [deepest * STEP, at * ROW + 4];
        line(wire, [x, y]);
        boxes.push(svg("g", { class: "gate output", transform: `translate(${x},${y})` },
            svg("rect", { width: GATE, height: 18, rx: 2 }), svg("text", { x: GATE / 2, y: 13 }, `y${at}`)));
    });
    return svg("svg", { class: "circuit", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `circuit of ${table.name}` }, lines, boxes);
}

function propertiesOf(table, properties) {
    const term = (set) => {
        if (set === 0) return "1";
        const bits = [...Array(table.inputs).keys()].filter((bit) => (set >> (table.inputs - 1 - bit)) & 1);
        return bits.map((bit) => `x${bit}`).join(" ");
    };
    const forms = properties.normal_forms.map((terms, at) => {
        const text = terms.length > 24 ? `${terms.slice(0, 24).map(term).join(" ⊕ ")} ⊕ … (${counted(terms.length, "term")})` : terms.map(term).join(" ⊕ ");
        return h("tr", {}, h("th", { scope: "row" }, `y${at}`), h("td", { class: "figure" }, number(properties.degrees[at])), h("td", {}, h("code", {}, text || "0")));
    });
    return h("div", {},
        h("p", { class: "note" }, `${properties.permutation ? "A permutation. " : "No permutation. "}Differential uniformity ${number(properties.uniformity)}, nonlinearity ${number(properties.nonlinearity)}, algebraic degree ${number(Math.max(...properties.degrees))}. Bit 0 is the most significant one.`),
        h("h2", {}, "Difference table"), h("p", { class: "note" }, "Row a, column b: inputs x with S(x) ⊕ S(x ⊕ a) = b. Darker is more."), differences(table, properties),
        h("h2", {}, "Algebraic normal form"), h("div", { class: "scroll" }, h("table", { class: "claims" },
            h("thead", {}, h("tr", {}, ["bit", "degree", "sum of products"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, forms))));
}

/** A colour of the style as a canvas takes it. */
function colour(name) {
    const probe = h("span", { style: `color: var(--${name})` });
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
}

function differences(table, { differences: rows, uniformity }) {
    const canvas = h("canvas", { class: "differences", role: "img", "aria-label": `difference table of ${table.name}; the largest entry is ${uniformity}` });
    const cell = rows.length <= 16 ? 18 : rows.length <= 64 ? 6 : 2;
    canvas.width = rows[0].length * cell;
    canvas.height = rows.length * cell;
    const context = canvas.getContext("2d");
    const [accent, paper, ink] = ["accent", "paper", "ink"].map(colour);
    context.font = "11px ui-monospace, monospace";
    context.textAlign = "center";
    rows.forEach((row, a) => row.forEach((count, b) => {
        if (!count) return;
        context.globalAlpha = a ? 0.15 + 0.85 * (count / uniformity) : 0.12;
        context.fillStyle = accent;
        context.fillRect(b * cell, a * cell, cell - (cell > 2), cell - (cell > 2));
        context.globalAlpha = 1;
        if (cell >= 18) {
            context.fillStyle = a && count / uniformity > 0.6 ? paper : ink;
            context.fillText(String(count), b * cell + 9, a * cell + 13);
        }
    }));
    return h("div", { class: "scroll" }, canvas);
}
