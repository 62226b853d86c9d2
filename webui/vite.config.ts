import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { modern } from "./modern.ts";
import { pack } from "./pack.ts";

/** The editor, but for those parts that come later. */
const EDITOR =
  /^(?!.*\.css).*(?:prosemirror-(?!tables)|orderedmap|rope-sequence|w3c-keyname|src\/(?:editor\/(?!carets|table-tools|languages|key-help|html|reading|copying|waiting|find|highlight|markdown-|table-html|folds|anchor|chunking|handle\.|moving|numbering|places)|document\/|pictures\/(?!transfer|uploads|standing|card|describing)|shared\/(?!anchor)|client\/(?!topic)|words\/(?:table|editor|code|document|people|pictures)\.|pages\/(?:Lazy|Title|SaveBadge|shortcuts)|here\/(?:choices|company|words)\.|account\/own-role|client-lock|controller|keeper|waiting\.|name\.|open\.|people\.|save-text|subprotocol))/;

/** What documents and places need of a session with a node, and of people. */
const SESSION =
  /src\/(?:client\/(?:browser|errors|messages|msgpack|object|session|stream|volatile)|shared\/link|account\/own-role|client-lock|keeper|waiting|name|people|save-text|subprotocol|pages\/SaveBadge|words\/(?:document)|document\/types)\./;

/** What the list and every document need of the browser and of its node. */
const STORE = /src\/(?:store|account\/ticket)\.|node_modules\/idb\//;

/** What all faces of a place draw and say, in one file: each more is named in every page. */
const FACES =
  /src\/(?:place\/(?:limits|refusal|thing|behaviours)|words\/board|board\/(?:live\/keeping|draw\/(?:text-layout|paint|sight|acting-drawings|marks?)|model\/(?:palette|style|settings|card|reading|units|geometry|arrows|acts|saying|states|zones)|page\/(?:theme|icons|Icon)|pictures\/album))\.|perfect-freehand/;

/** What every page needs, in one small file. */
const BASE =
  /src\/(?:ids|problem|words\/(?:formats|language|common|problems))\.|vite\/preload-helper/;

/** Functions of three.js that are called with `new`. */
const MAKERS = /^(?:WebGL|UniformsCache|CubicPoly|(?:Color|Depth|Stencil)Buffer)/;

/** Areas of words that come together, in one file a language: docs/words.md. */
const WORDS = {
  start: /words\/(\w+)\/(?:common|problems)\./,
  document: /words\/(\w+)\/(?:code|document|editor|people|pictures|table)\./,
  home: /words\/(\w+)\/(?:home|files)\./,
  account: /words\/(\w+)\/(?:account|audit)\./,
  board: /words\/(\w+)\/board\./,
  console: /words\/(\w+)\/(?:console|faults|map|moves|operations|proofs|rules)\./,
};
const words = Object.entries(WORDS).map(([part, test]) => ({
  name: (id: string) => `words-${part}-${test.exec(id)?.[1]}`,
  test,
}));

export default defineConfig({
  plugins: [svelte(), modern(), pack()],
  base: "/",
  build: {
    outDir: "dist",
    assetsDir: "assets",
    target: "es2022",
    // The content security policy allows neither inline scripts nor data: in scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // For vite.worker.config.ts.
    manifest: true,
    // Terser folds what the bundler's own minifier leaves, and that one shortens names and signs
    // then, by `output.minify`: some 2 KB less of a document page than by that one alone. What makes
    // objects with `new` of a function is kept one by its name: `unsafe_arrows`.
    minify: "terser",
    terserOptions: {
      ecma: 2020,
      mangle: false,
      module: true,
      compress: { passes: 3, keep_fargs: false, unsafe_arrows: true, keep_fnames: MAKERS },
    },
    rolldownOptions: {
      // How long it took is no news to who has a page built.
      checks: { pluginTimings: false },
      output: {
        minify: true,
        // A page names some sixty files: eight hexadecimal digits tell builds apart, and pack well.
        hashCharacters: "hex",
        // What every document needs stays together, whoever else needs a part of it.
        codeSplitting: {
          groups: [
            { name: "base", test: BASE },
            ...words,
            { name: "store", test: STORE },
            { name: "session", test: SESSION },
            { name: "editor", test: EDITOR },
            { name: "faces", test: FACES },
          ],
          includeDependenciesRecursively: false,
        },
      },
    },
  },
  test: {
    include: ["tests/**/*.test.ts"],
    setupFiles: ["tests/words-setup.ts"],
    environment: "node",
    // Tests judge by what comes: on a busy machine five seconds would fail a right one.
    testTimeout: 30_000,
    // Vitest leaves a core free, which is half of them on a small machine.
    maxWorkers: "100%",
  },
});
