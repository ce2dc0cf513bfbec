// The page in a browser: every pane, the keyboard, links, a narrow window, accessibility.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { deflateRawSync, gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const given = process.env.EXPLORER;
const here = new URL(".", import.meta.url).pathname;
const pictures = join(here, "../pictures");
const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = places.find((place) => place && existsSync(place));
const skip = executablePath ? false : "skipped: no Chromium; CHROMIUM names one";

/** Messages of the console and errors of the scripts, which no test expects. */
const complaints = [];
let browser;
let server;
let address;

before(async () => {
    if (skip) return;
    await mkdir(pictures, { recursive: true });
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    const page = await readFile(join(given, "explorer.html"));
    server = createServer((_, response) => response.setHeader("content-type", "text/html").end(page));
    await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
    address = `http://127.0.0.1:${server.address().port}/`;
});

after(async () => {
    await browser?.close();
    server?.close();
    assert.deepEqual(complaints, []);
});

async function opened(url = address, options = {}) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options });
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(error.stack));
    await page.goto(url);
    await page.waitForSelector("html[data-ready]");
    return page;
}

const compiled = (page, command) => page.waitForFunction((command) => document.querySelector(".status code")?.textContent.includes(command), command);

async function typed(page, text) {
    await page.click(".cm-content");
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(text);
}

test("the page is small and starts soon", { skip }, async (t) => {
    const file = await readFile(join(given, "explorer.html"));
    const start = performance.now();
    const page = await opened();
    const spent = performance.now() - start;
    const sent = gzipSync(file, { level: 9 }).length;
    t.diagnostic(`page: ${file.length} bytes, ${sent} compressed by gzip; usable after ${spent.toFixed(0)} ms`);
    assert.ok(sent < 1_200_000, `${sent} bytes compressed`);
    assert.ok(spent < 10_000, `${spent} ms`);
    await page.close();
});

test("each pane shows the first program", { skip }, async () => {
    const page = await opened();
    await compiled(page, "usubac rectangle.ua -V --target avx2 --entry encrypt");
    const panes = {
        stages: ".stage-list .stage .verdict.PROVED", c: ".lines .line:has-text('RECTANGLE'), .lines .line:has-text('usubac')", assembly: ".lines .line:has-text('usubac')",
        pressure: ".chart svg .area", ports: ".bars .binds", circuits: "svg.circuit .gate", proof: ".claims tr.PROVED >> nth=5",
    };
    for (const [name, wanted] of Object.entries(panes)) {
        await page.click(`#tab-${name}`);
        await page.waitForSelector(`.pane ${wanted}`);
        await page.screenshot({ path: join(pictures, `${name}.png`) });
    }
    await page.waitForFunction(() => /^(\d+) of \1 claims proved in /.test(document.querySelector(".padded .note").textContent));
    await page.close();
});

test("all programs of the menu compile", { skip }, async () => {
    const page = await opened();
    const names = await page.$$eval("header option", (options) => options.map(({ value }) => value).filter((value) => value !== "own"));
    const folders = new Set(names.map((name) => name.split("/")[0]));
    assert.ok(folders.size >= 30, `${folders.size} folders`);
    const failed = [];
    for (const name of names) {
        const answer = await page.evaluate(async (name) => {
            const { page, programs } = window.usuba;
            const [folder, own] = name.split("/");
            const one = programs.ciphers.find((cipher) => cipher.folder === folder).functions.find((f) => f.name === own);
            const files = Object.fromEntries(one.files.map((file) => [file, programs.files[file]]));
            return page.compiler.ask({ ask: "compile", slot: 1, text: { root: one.root, files }, settings: { target: "avx2", ...one.settings } });
        }, name);
        if (!answer.command) failed.push(`${name}: ${answer.findings[0].message}`);
    }
    // A few have ports or operators that AVX2 lacks.
    assert.ok(failed.length <= names.length / 10, failed.join("\n"));
    assert.ok(failed.every((line) => line.includes("avx2") || line.includes("registers")), failed.join("\n"));
    await page.close();
});

test("findings are shown where they are, with their repairs", { skip }, async () => {
    const page = await opened();
    await compiled(page, "rectangle");
    await typed(page, "node f (x:u8, other:u8) returns (y:u8)\nlet y = x ^ othr tel\n");
    await page.waitForSelector(".cm-lintRange-error");
    assert.equal(await page.textContent(".cm-lintRange-error"), "othr");
    assert.match(await page.textContent(".findings"), /error U0201 line 2: .*othr/);
    assert.match(await page.textContent(".status"), /Not compiled/);
    await page.screenshot({ path: join(pictures, "error.png") });
    await typed(page, "node f (x:u16) returns (y:u16)\nlet y = x <<< 19 tel\n");
    await page.waitForFunction(() => !document.querySelector(".cm-lintRange-error"));
    assert.equal(await page.textContent(".cm-lintRange-warning"), "19");
    await page.click(".findings li button:has-text('Repair')");
    await page.waitForFunction(() => document.querySelector(".source .tools [role=status]").textContent === "no findings");
    assert.match(await page.textContent(".cm-content"), /x <<< 3 tel/);
    await page.waitForFunction(() => document.querySelector(".status code")?.textContent.includes("usubac"));
    await page.close();
});

test("a line of a pane leads to its source, and a line of the source to the pane", { skip }, async () => {
    const page = await opened();
    await compiled(page, "rectangle");
    await page.click("#tab-stages");
    await page.click(".listing .line:has-text('<<<') >> nth=0");
    const source = await page.waitForSelector(".cm-marked");
    assert.match(await source.textContent(), /<<</);
    await page.click("#tab-assembly");
    await page.click(".cm-line:has-text('x[1] <<< 1') >> nth=0");
    const marked = await page.waitForSelector(".pane .line.marked");
    assert.match(await marked.textContent(), /vps|vpr|vpor/);
    await page.close();
});

test("hover and completion know the program", { skip }, async () => {
    const page = await opened();
    await compiled(page, "rectangle");
    await page.hover(".cm-line:has-text('_lsb_first table sbox') >> text=sbox");
    const box = await page.locator(".cm-line:has-text('_lsb_first table sbox')").first().boundingBox();
    await page.mouse.move(box.x + 21 * 7.8, box.y + 10);
    const hover = await page.waitForSelector(".hover");
    assert.match(await hover.textContent(), /table sbox|permutation/i);
    await typed(page, "node frobnicate (x:u8) returns (y:u8)\nlet y = ~x tel\nnode g (x:u8) returns (y:u8)\nlet y = ");
    await page.keyboard.type("frob");
    await page.waitForSelector(".cm-tooltip-autocomplete >> text=frobnicate");
    await page.close();
});

test("a link has the whole state", { skip }, async () => {
    const page = await opened(address, { permissions: [] });
    await compiled(page, "rectangle");
    await page.click("text=Compare");
    await page.waitForFunction(() => document.querySelectorAll(".status code").length === 2);
    await typed(page, "node linked (x:u8, y:u8) returns (z:u8)\nlet z = (x + y) <<< 3 tel\n");
    await page.waitForFunction(() => [...document.querySelectorAll(".status code")].filter((code) => code.textContent.includes("program.ua") || code.textContent.includes("rectangle.ua")).length === 2);
    await page.selectOption("[aria-label=entry]", "");
    await page.waitForFunction(() => [...document.querySelectorAll(".status code")].every((code) => !code.textContent.includes("--entry")));
    await page.click("#tab-ports");
    await page.click("text=Share");
    await page.waitForFunction(() => location.hash.startsWith("#v1="));
    const link = page.url();
    const state = await page.evaluate(() => JSON.stringify(window.usuba.page.state()));
    const again = await opened(link);
    await again.waitForFunction(() => document.querySelectorAll(".status code").length === 2);
    await again.waitForSelector("#tab-ports[aria-selected=true]");
    assert.equal(await again.evaluate(() => JSON.stringify(window.usuba.page.state())), state);
    assert.match(await again.textContent(".cm-content"), /node linked/);
    await Promise.all([page, again].map((one) => one.close()));
});

test("links that are none leave a page that works", { skip }, async () => {
    const link = (state) => `#v1=${deflateRawSync(Buffer.from(JSON.stringify(state))).toString("base64url")}`;
    const own = { root: "f.ua", files: { "f.ua": "node f (x:u8) returns (y:u8) let y = ~x tel" } };
    const wrong = [
        "#v1=AAAA", "#v1=", "#v2=x", link(null), link([]), link(7), link({}), link({ program: "none/such" }), link({ program: {} }),
        link({ root: "f.ua", files: { "f.ua": 7 } }), link({ ...own, settings: [] }), link({ ...own, settings: 7 }), link({ ...own, settings: [null] }),
    ];
    const page = await opened();
    for (const hash of wrong) {
        await page.goto("about:blank");
        await page.goto(address + hash);
        await page.waitForSelector("html[data-ready]");
        assert.match(await page.textContent(".notice"), /link cannot be read|has no program/, hash);
        await compiled(page, "usubac rectangle.ua");
    }
    const odd = { ...own, tab: "nothing", stages: [1e9], settings: [{ target: "<img src=x onerror=alert(1)>", slicing: "V" }] };
    await page.goto("about:blank");
    await page.goto(address + link(odd));
    await page.waitForFunction(() => document.querySelector(".status")?.textContent.includes("there is no target <img"));
    await page.close();
});

test("the keyboard is enough", { skip }, async () => {
    const page = await opened();
    await compiled(page, "rectangle");
    await page.focus("#tab-stages");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#tab-c[aria-selected=true]");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.waitForSelector("#tab-pressure[aria-selected=true]");
    await page.focus(".chart");
    const before = await page.textContent(".chosen-value");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    const after = await page.textContent(".chosen-value");
    assert.match(after, /^Equation 2 /);
    assert.notEqual(before, after);
    await page.focus("#tab-pressure");
    for (let step = 0; step < 3; step++) await page.keyboard.press("ArrowLeft");
    await page.focus(".stage-list");
    await page.keyboard.press("ArrowDown");
    // A new listing has no cursor: it must be there before a line of it is chosen.
    await page.waitForFunction(() => {
        const pass = document.querySelector(".stage.chosen .pass").textContent;
        return pass !== "lower" && document.querySelector(".listing strong").textContent === `after ${pass}`;
    });
    await page.focus(".listing .lines");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.waitForSelector(".listing .line.cursor");
    await page.close();
});

for (const colorScheme of ["light", "dark"])
    test(`assistive programs can read it (${colorScheme})`, { skip }, async () => {
        const page = await opened(address, { colorScheme });
        await compiled(page, "rectangle");
        await page.addScriptTag({ path: createRequire(import.meta.url).resolve("axe-core") });
        for (const pane of ["stages", "c", "pressure", "ports", "circuits", "proof"]) {
            await page.click(`#tab-${pane}`);
            await page.waitForTimeout(200);
            // The editor is another project's; its scroller can be reached by the text in it.
            const { violations } = await page.evaluate(() => window.axe.run({ exclude: [[".cm-editor"]] }));
            const found = violations.map(({ id, nodes }) => `${pane}: ${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
            assert.deepEqual(found, []);
        }
        await page.screenshot({ path: join(pictures, `${colorScheme}.png`) });
        await page.close();
    });

test("it fits in 360 pixels", { skip }, async () => {
    const page = await opened(address, { viewport: { width: 360, height: 740 } });
    await compiled(page, "rectangle");
    for (const pane of ["source", "stages", "c", "assembly", "pressure", "ports", "circuits", "proof"]) {
        await page.click(`#tab-${pane}`);
        await page.waitForTimeout(200);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, pane);
        await page.screenshot({ path: join(pictures, `narrow-${pane}.png`) });
    }
    await page.close();
});

test("a page with a program works without a network", { skip }, async () => {
    const file = join(given, "offline.html");
    assert.ok((await stat(file)).size > 0);
    const page = await opened(`file://${file}`);
    await compiled(page, "usubac own.ua");
    assert.match(await page.textContent(".cm-content"), /node own/);
    assert.equal(await page.inputValue("header select"), "own");
    await page.close();
});

test("typing is followed by the last text only", { skip }, async () => {
    const page = await opened();
    await compiled(page, "rectangle");
    await typed(page, "node f (x:u8) returns (y:u8)\nlet y = x tel\n");
    for (let count = 1; count <= 30; count++) await page.keyboard.type(`node f${count} (x:u8) returns (y:u8) let y = f(x) tel\n`, { delay: 1 });
    await page.selectOption("[aria-label=entry]", "");
    await page.waitForFunction(() => document.querySelector(".status code")?.textContent.includes("usubac"));
    await page.waitForFunction(() => [...document.querySelectorAll("[aria-label=entry] option")].some(({ value }) => value === "f30"));
    await page.close();
});
