// Compresses a file by Zopfli, as small as Deflate gets; the page inflates it.
//
//     node pack.mjs FILE PACKED
import { readFile, writeFile } from "node:fs/promises";
import { deflateAsync } from "@gfx/zopfli";

const [file, packed] = process.argv.slice(2);
await writeFile(packed, await deflateAsync(await readFile(file), { numiterations: 5 }));
