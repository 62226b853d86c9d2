import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Manifest } from "vite";
import { pack } from "./pack.ts";

/** The service worker, with the names of the files that it keeps: of the page as it is built. */

const PAGE = join(import.meta.dirname, "dist");
/** What nobody needs without a connection: it is asked for when somebody comes there. */
const ONLINE = /(?:pages\/AccountPages|console\/Console)\.svelte$|words-(?:account|console)-/;

/** All that the page loads at first or later, but for `ONLINE`. */
function filesOf(manifest: Manifest): string[] {
  const files = new Set<string>();
  const seen = new Set<string>();
  const add = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || seen.has(name) || ONLINE.test(name) || ONLINE.test(chunk.file)) {
      return;
    }
    seen.add(name);
    for (const file of [chunk.file, ...(chunk.css ?? []), ...(chunk.assets ?? [])]) {
      files.add(`/${file}`);
    }
    for (const other of [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]) add(other);
  };
  add("index.html");
  return [...files].filter((file) => file.startsWith("/assets/")).sort();
}

function built(): { name: string; files: string[] } {
  const manifest = JSON.parse(readFileSync(join(PAGE, ".vite/manifest.json"), "utf-8")) as Manifest;
  const page = readFileSync(join(PAGE, "index.html"), "utf-8");
  const named = page.match(/\/assets\/[\w.-]+/g) ?? [];
  const files = [...new Set([...filesOf(manifest), ...named])];
  const name = createHash("sha256")
    .update([page, ...files].join("\n"))
    .digest("hex");
  return { name: name.slice(0, 16), files };
}

export default defineConfig(() => ({
  publicDir: false as const,
  plugins: [pack()],
  define: { BUILD: JSON.stringify(built()) },
  build: {
    outDir: "dist",
    emptyOutDir: false,
    target: "es2022",
    lib: {
      entry: "src/offline/worker.ts",
      formats: ["iife" as const],
      name: "worker",
      fileName: () => "worker.js",
    },
  },
}));
