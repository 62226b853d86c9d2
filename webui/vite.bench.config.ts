import { defineConfig } from "vite";

/** The editor over a document in memory, for `python -m bench editor`; not part of the product. */
export default defineConfig({
  root: "bench",
  publicDir: false,
  base: "./",
  build: { outDir: "../dist-bench", emptyOutDir: true, target: "es2022" },
});
