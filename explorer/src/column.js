// One compilation: its settings, its panes, and the questions about it.
import { Refusal } from "./compiler.js";
import { h } from "./dom.js";
import { Circuits } from "./panes/circuits.js";
import { Output } from "./panes/output.js";
import { Ports } from "./panes/ports.js";
import { Pressure } from "./panes/pressure.js";
import { Proof } from "./panes/proof.js";
import { Stages } from "./panes/stages.js";

export const PANES = { stages: "Passes", c: "C", assembly: "Assembly", pressure: "Pressure", ports: "Ports", circuits: "Circuits", proof: "Proof" };

export class Column {
    #run = 0;
    #tab = "stages";
    #marked = null;
    #wanted;

    /** `page` has `compiler`, `catalogue`, `changed()`, `choose(range)`, `text()`. */
    constructor(page, slot, settings) {
        this.page = page;
        this.slot = slot;
        this.settings = settings;
        this.panes = {
            stages: new Stages(this), c: new Output(this, "c"), assembly: new Output(this, "assembly"), pressure: new Pressure(this),
            ports: new Ports(this), circuits: new Circuits(this), proof: new Proof(this),
        };
        this.controls = h("form", { class: "settings", "aria-label": slot ? "settings to compare with" : "settings", onsubmit: (event) => event.preventDefault() });
        this.status = h("p", { class: "status", role: "status" });
        this.pane = h("div", { class: "pane", role: "tabpanel" });
        this.element = h("section", { class: "column" }, this.controls, this.status, this.pane);
        this.draw();
    }

    /** The settings as fields. */
    draw() {
        const { targets, slicings } = this.page.catalogue;
        const { settings } = this;
        const set = (name, value) => {
            settings[name] = value;
            if (name === "target" && !targets.find((t) => t.name === value).cpus.includes(settings.cpu)) settings.cpu = "generic";
            if (name === "target") this.draw();
            this.page.changed();
        };
        const select = (label, name, options) => h("label", {}, h("span", {}, label), h("select", { onchange: (event) => set(name, event.target.value) },
            options.map((option) => h("option", { selected: option === (settings[name] ?? ""), value: option }, option || "auto"))));
        const target = targets.find((target) => target.name === settings.target);
        const field = (label, name, read, size, hint) => h("label", {}, h("span", {}, label), h("input", {
            size, value: settings[name] ?? "", placeholder: hint, onchange: (event) => set(name, read(event.target.value.trim())),
        }));
        const whole = (text) => (/^\d+$/.test(text) ? Number(text) : undefined);
        this.controls.replaceChildren(
            select("slicing", "slicing", slicings),
            select("target", "target", targets.map(({ name }) => name)),
            select("processor", "cpu", target?.cpus ?? ["generic"]),
            h("label", {}, h("span", {}, "level"), h("select", { onchange: (event) => set("level", Number(event.target.value)) },
                [0, 1, 2].map((level) => h("option", { selected: level === (settings.level ?? 2), value: String(level) }, `-O${level}`)))),
            field("instances", "interleave", whole, 4, "auto"),
            field("word", "word", whole, 8, "as written"),
            field("skip", "skip", (text) => (text ? text.split(/[\s,]+/) : undefined), 10, "no pass"));
    }

    /** Compiles; answers whether the program could be compiled. */
    async compile() {
        const run = ++this.#run;
        const settings = Object.fromEntries(Object.entries(this.settings).filter(([, value]) => value !== undefined && value !== ""));
        const text = this.page.text();
        const start = performance.now();
        this.compilation = undefined;
        this.status.className = "status busy";
        let answer;
        try {
            answer = await this.page.compiler.ask({ ask: "compile", slot: this.slot, text, settings });
        } catch (refusal) {
            if (!(refusal instanceof Refusal)) throw refusal;
            if (run === this.#run) this.#tell(`Not compiled: ${refusal.message}.`, "error");
            return null;
        }
        if (run !== this.#run) return null;
        if (answer.findings) {
            const [first] = answer.findings;
            this.#tell(`Not compiled: ${first.message}.`, "error");
            return answer;
        }
        this.compilation = answer;
        const spent = performance.now() - start;
        this.#tell("", "");
        this.status.replaceChildren(h("code", {}, answer.command), h("span", { class: "spent" }, ` ${spent.toFixed(0)} ms`), ...answer.notes.map((note) => h("span", { class: "remark" }, note)));
        this.panes.proof.begin();
        this.#wanted = this.wantedStage;
        this.wantedStage = undefined;
        await this.show(this.#tab);
        return answer;
    }

    #tell(text, kind) {
        this.status.className = `status ${kind}`;
        this.status.textContent = text;
        this.pane.classList.toggle("stale", kind === "error");
    }

    async show(tab) {
        this.#tab = tab;
        const pane = this.panes[tab];
        if (this.pane.firstChild !== pane.element) this.pane.replaceChildren(pane.element);
        if (!this.compilation) return;
        await pane.show(this.compilation, this.#wanted);
        this.#wanted = undefined;
        if (tab === "proof" || tab === "stages") this.#prove(this.#run);
    }

    /** Asks for claims until there are no more, the compilation is another one, or nobody looks. */
    async #prove(run) {
        if (this.proving === run) return;
        this.proving = run;
        const looked = () => run === this.#run && ["proof", "stages"].includes(this.#tab);
        const { proof, stages } = this.panes;
        while (looked()) {
            const claim = await this.ask({ ask: "prove" });
            if (!claim || run !== this.#run) return;
            const more = proof.add(claim);
            stages.proved(claim);
            if (this.#tab === "proof") proof.show();
            if (!more) return;
        }
        this.proving = undefined;
    }

    /** A question about the compilation; null if it is another one by now. */
    async ask(question, onRefusal) {
        const run = this.#run;
        try {
            const answer = await this.page.compiler.ask({ ...question, slot: this.slot });
            return run === this.#run ? answer : null;
        } catch (refusal) {
            if (!(refusal instanceof Refusal)) throw refusal;
            if (run === this.#run && onRefusal) onRefusal(refusal.message);
            return null;
        }
    }

    /** A line of a pane is chosen. */
    choose({ range }) {
        this.page.choose(range ?? null, this);
    }

    /** Marks what comes from a line of the source. */
    mark(place, scroll = true) {
        this.#marked = place;
        return this.panes[this.#tab].mark(place, scroll);
    }

    remark() {
        if (this.#marked) this.panes[this.#tab].mark(this.#marked, false);
    }
}
