// Questions to the worker. Answers come in the order of the questions.

/** A long question is given up after this many milliseconds, if a newer one makes it useless. */
const PATIENCE = 3000;

/** The reason why a question has no answer, which a person can do something about. */
export class Refusal extends Error {}

export class Compiler {
    #waiting = new Map();
    #next = 0;
    #worker;

    constructor(onFault) {
        this.onFault = onFault;
        this.memory = 0;
        this.#start();
    }

    #start() {
        const url = URL.createObjectURL(new Blob([window.usuba.worker], { type: "text/javascript" }));
        this.#worker = new Worker(url);
        this.#worker.postMessage({ module: window.usuba.module });
        this.#worker.onmessage = ({ data }) => this.#arrived(data);
    }

    #arrived({ id, answer, refusal, fault, deep, memory }) {
        const { resolve, reject } = this.#waiting.get(id);
        this.#waiting.delete(id);
        this.memory = memory ?? this.memory;
        if (fault !== undefined) {
            if (!deep) this.onFault(fault);
            reject(new Refusal(fault));
        } else if (refusal !== undefined) {
            reject(new Refusal(refusal));
        } else {
            resolve(answer);
        }
    }

    ask(question) {
        const id = this.#next++;
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject, since: performance.now() });
            this.#worker.postMessage({ id, question });
        });
    }

    /** Gives up questions that have run for long; compilations in the slots are lost with them. */
    hurry() {
        const [first] = this.#waiting.values();
        if (!first || performance.now() - first.since < PATIENCE) return;
        this.#worker.terminate();
        for (const { reject } of this.#waiting.values()) reject(new Refusal("a newer question came"));
        this.#waiting.clear();
        this.#start();
    }
}
