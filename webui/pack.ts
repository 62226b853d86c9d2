/** Lays each built file beside itself packed, for nodes to send: docs/operations.md. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";
import type { Plugin } from "vite";

/** In bytes: what is smaller goes into one packet as it is. */
const PACKED_FROM = 1_000;
const gzipped = promisify<Buffer, { level: number }, Buffer>(gzip);
const brotlied = promisify<Buffer, Buffer>(brotliCompress);

/** Packs what is written to the disk, where that makes it smaller. */
export function pack(): Plugin {
  return {
    name: "pack",
    apply: "build",
    async writeBundle({ dir = "dist" }, bundle) {
      for (const name of Object.keys(bundle)) {
        const plain = await readFile(join(dir, name));
        if (plain.length < PACKED_FROM) continue;
        const packed = { ".gz": await gzipped(plain, { level: 9 }), ".br": await brotlied(plain) };
        for (const [end, content] of Object.entries(packed)) {
          if (content.length < plain.length) await writeFile(join(dir, name + end), content);
        }
      }
    },
  };
}
