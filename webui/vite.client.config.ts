import { defineConfig } from "vite";

/** The client of shared objects as one ES module, for pages that are built by nobody. */
export default defineConfig({
  publicDir: false,
  build: {
    outDir: "dist/client",
    target: "es2022",
    lib: { entry: "src/client/index.ts", formats: ["es"], fileName: () => "groupcore.js" },
  },
});
