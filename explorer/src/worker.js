// The compiler in a worker: one question at a time.
let module;
let compiler;

/** An instance of the module; a panic leaves one that cannot go on. */
async function started() {
    const page = { now: () => performance.now() };
    const { exports } = await WebAssembly.instantiate(module, { page });
    return exports;
}

/** The text at an address of the module: its length, and its bytes. */
function text(address) {
    const { buffer } = compiler.memory;
    const length = new DataView(buffer).getUint32(address, true);
    return new TextDecoder().decode(new Uint8Array(buffer, address + 4, length));
}

async function ask(question) {
    compiler ??= await started();
    const bytes = new TextEncoder().encode(JSON.stringify(question));
    const room = compiler.room(bytes.length);
    new Uint8Array(compiler.memory.buffer, room, bytes.length).set(bytes);
    try {
        const answer = JSON.parse(text(compiler.call()));
        return { ...answer, memory: compiler.memory.buffer.byteLength };
    } catch (error) {
        // A trap after a panic has a message in the module; the stack of the engine may end, too.
        const deep = error instanceof RangeError;
        const fault = deep ? "The program is nested too deep for this browser." : text(compiler.fault());
        compiler = undefined;
        return { fault: fault || error.message, deep };
    }
}

onmessage = async ({ data }) => {
    if (data.module) {
        module = await WebAssembly.compile(data.module);
        return;
    }
    while (!module) await new Promise((ready) => setTimeout(ready, 1));
    postMessage({ id: data.id, ...(await ask(data.question)) });
};
