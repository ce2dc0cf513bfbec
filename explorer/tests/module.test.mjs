// The module answers as native code does, within its budgets.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import test from "node:test";
import { brotliCompressSync } from "node:zlib";

const given = process.env.EXPLORER;
const here = new URL(".", import.meta.url).pathname;
const file = await readFile(join(here, "../usuba_web.wasm"));

async function started() {
    const page = { now: () => performance.now() };
    const { instance } = await WebAssembly.instantiate(file, { page });
    const { exports } = instance;
    const text = (address) => {
        const { buffer } = exports.memory;
        const length = new DataView(buffer).getUint32(address, true);
        return new TextDecoder().decode(new Uint8Array(buffer, address + 4, length));
    };
    return {
        exports,
        fault: () => text(exports.fault()),
        ask(question) {
            const bytes = new TextEncoder().encode(question);
            const room = exports.room(bytes.length);
            new Uint8Array(exports.memory.buffer, room, bytes.length).set(bytes);
            return text(exports.call());
        },
    };
}

/** An answer without durations. */
const timeless = (answer) => answer.replace(/"spent":[-+.e\d]+/g, '"spent":0');

test("answers are those of native code", async () => {
    const all = JSON.parse(await readFile(join(given, "questions.json"), "utf8"));
    assert.ok(all.length > 300, `${all.length} questions`);
    const compiler = await started();
    let outputs = 0;
    for (const [question, expected] of all) {
        const answer = compiler.ask(question);
        outputs += question.includes('"output"') && !answer.startsWith('{"refusal"');
        assert.equal(timeless(answer), timeless(expected), question.slice(0, 200));
    }
    assert.ok(outputs > 100, `${outputs} outputs`);
});

/** Milliseconds of the fastest of some compilations, and megabytes. */
async function compiled(folder, file, settings) {
    const source = await readFile(join(process.env.EXPLORER_ROOT, "ciphers", folder, file), "utf8");
    const question = JSON.stringify({ ask: "compile", text: { root: file, files: { [file]: source } }, settings });
    const compiler = await started();
    let best = Infinity;
    for (let round = 0; round < 5; round++) {
        const start = performance.now();
        const answer = compiler.ask(question);
        best = Math.min(best, performance.now() - start);
        assert.match(answer, /"stages"/);
    }
    return [best, compiler.exports.memory.buffer.byteLength / 1e6];
}

test("compilations are fast and fit in memory", async (t) => {
    const budgets = [
        ["rectangle", "rectangle.ua", { slicing: "V", target: "avx2", entry: "encrypt" }, 50],
        ["chacha20", "chacha20.ua", { slicing: "V", target: "avx2" }, 50],
        ["serpent", "serpent.ua", { slicing: "B", target: "avx2", entry: "encrypt" }, 1000],
    ];
    for (const [folder, name, settings, most] of budgets) {
        const [best, megabytes] = await compiled(folder, name, settings);
        t.diagnostic(`${folder} ${settings.slicing}: ${best.toFixed(1)} ms, ${megabytes.toFixed(0)} MB`);
        // Timing belongs to benchmarks: here a budget fails only where it is missed by far.
        assert.ok(best < 10 * most, `${folder}: ${best} ms`);
        assert.ok(megabytes < 200, `${folder}: ${megabytes} MB`);
    }
});

test("the module is small", (t) => {
    const packed = brotliCompressSync(file).length;
    t.diagnostic(`module: ${file.length} bytes, ${packed} compressed by Brotli`);
    assert.ok(file.length < 2_500_000, `${file.length} bytes`);
    assert.ok(packed < 800_000, `${packed} bytes compressed`);
});

test("nested and long programs end with findings, and hostile questions with refusals", async () => {
    const compiler = await started();
    const check = (source) => compiler.ask(JSON.stringify({ ask: "check", text: { root: "p.ua", files: { "p.ua": source } } }));
    for (const source of [
        `node f (x:u8) returns (y:u8) let y = ${"(".repeat(100_000)}x`,
        `node f (x:u8) returns (y:u8) let y = ${"~".repeat(100_000)}x tel`,
        "\u0000".repeat(1_000_000),
        `include "p.ua"`,
        "",
    ]) {
        assert.match(check(source), /^\{"answer":\{"findings":\[/);
    }
    for (const question of ["", "null", "[]", '{"ask":"prove"}', '{"ask":"stage","slot":-1}', "\ud800"])
        assert.match(compiler.ask(question), /^\{"refusal":"/);
    // A table of 2^60 entries, a loop of 2^40 turns.
    const huge = "node f (x:u8) returns (y:u8) vars s:u8[1099511627777] let s[0] = x; forall i in [0,1099511627775] { s[i+1] = ~s[i] } y = s[9] tel";
    assert.match(check(huge), /^\{"answer":\{"findings":\[\{/);
});
