// What is proved, and by which engine? One claim for lowering, each pass, and the target's rows.
import { counted, h, number } from "../dom.js";

const ABOUT = {
    lowering: "computes the reference semantics of the source",
    pass: "keeps the function of the program",
    lanes: "in each lane, by the instructions of the target",
};

export class Proof {
    #column;
    #claims = [];
    #done = false;

    constructor(column) {
        this.#column = column;
        this.summary = h("p", { class: "note", role: "status" });
        this.rows = h("tbody");
        this.element = h("div", { class: "padded", tabIndex: 0 }, this.summary,
            h("div", { class: "scroll" }, h("table", { class: "claims" },
                h("thead", {}, h("tr", {}, ["claim", "subject", "verdict", "engines or reason", "ms"].map((text) => h("th", { scope: "col" }, text)))),
                this.rows)));
    }

    mark() {
        return 0;
    }

    begin() {
        this.#claims = [];
        this.#done = false;
        this.show();
    }

    /** Adds a claim; false after the last one. */
    add(claim) {
        if (claim.subject || claim.reason) this.#claims.push(claim);
        this.#done = claim.done;
        return !claim.done;
    }

    show() {
        const proved = this.#claims.filter(({ verdict }) => verdict === "PROVED").length;
        const spent = this.#claims.reduce((sum, claim) => sum + claim.spent, 0);
        const progress = this.#done
            ? `${number(proved)} of ${counted(this.#claims.length, "claim")} proved in ${number(spent)} ms, from the source to the rows of the target. Contracts and object files are proved by `
            : `${number(proved)} of ${counted(this.#claims.length, "claim")} proved so far. Contracts and object files are proved by `;
        this.summary.replaceChildren(progress, h("code", {}, "usubac prove"), ".");
        this.rows.replaceChildren(...this.#claims.map((claim) => h("tr", { class: claim.verdict },
            h("td", { title: ABOUT[claim.kind] ?? "" }, claim.kind), h("td", {}, claim.subject),
            h("td", { class: `verdict ${claim.verdict}` }, claim.verdict),
            h("td", {}, claim.engines || claim.reason), h("td", { class: "figure" }, number(claim.spent)))));
    }
}
