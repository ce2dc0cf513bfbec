// Packs the explorer into one page: the module of the compiler, the scripts, the built-in programs.
//
//     node build.mjs ROOT MODULE.deflate PAGE.html
//
// ROOT is the checkout, whose cipher folders become the menu; pack.mjs has compressed the module.
//
// The same inputs give the same bytes.
import { readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { constants, deflateRawSync } from "node:zlib";
import { build } from "esbuild";
import { parse } from "smol-toml";

const here = dirname(fileURLToPath(import.meta.url));
const [root, module, page] = process.argv.slice(2);
if (!page) {
    console.error("build.mjs: expected three paths: the checkout, the module, the page");
    process.exit(1);
}
const ciphers = join(root, "ciphers");

/** A script with everything that it imports. */
async function bundled(name) {
    const made = await build({
        entryPoints: [join(here, "src", name)],
        bundle: true, minify: true, write: false, format: "iife", target: "es2022", legalComments: "none",
    });
    return made.outputFiles[0].text;
}

/** A program of a cipher folder with the files that it includes; the compiler has the standard ones. */
async function withIncludes(name, files, found = new Set()) {
    if (found.has(name)) return found;
    found.add(name);
    files[name] ??= await readFile(join(ciphers, name), "utf8");
    for (const [, path] of files[name].matchAll(/^\s*include\s+"([^"]+)"/gm))
        if (!path.startsWith("std:")) await withIncludes(normalize(join(dirname(name), path)), files, found);
    return found;
}

/** All functions of all cipher folders that have a program of their own. */
async function programs() {
    const files = {};
    const list = [];
    for (const folder of (await readdir(ciphers)).sort()) {
        const text = await readFile(join(ciphers, folder, "cipher.toml"), "utf8").catch(() => null);
        if (text === null) continue;
        const cipher = parse(text);
        const functions = [];
        for (const { name, node, source, slicings, word } of cipher.function ?? []) {
            const root = `${folder}/${source ?? cipher.source}`;
            const settings = { slicing: slicings[0], entry: node };
            if (word) settings.word = word;
            functions.push({ name, root, settings, files: [...(await withIncludes(root, files))].sort() });
        }
        if (functions.length) list.push({ folder, title: cipher.title, functions });
    }
    return JSON.stringify({ ciphers: list, files });
}

const packed = (bytes) => deflateRawSync(bytes, { level: constants.Z_BEST_COMPRESSION, memLevel: 9 });

const texts = [await bundled("main.js"), await bundled("worker.js"), await programs()];
const parts = [await readFile(module), ...texts.map(packed)];
const read = (name) => readFile(join(here, "src", name), "utf8");
const [{ version }, shell, style, start] = await Promise.all([
    readFile(join(here, "package.json"), "utf8").then(JSON.parse), read("index.html"), read("style.css"), read("start.js"),
]);
// Functions keep `$` in the texts from being a pattern.
const html = shell
    .replace('content=""', () => `content="${version}"`)
    .replace("/* style */", () => style)
    .replace("/* parts */", () => parts.map((part) => part.toString("base64")).join("\n"))
    .replace("/* start */", () => start);
await writeFile(page, html);
