/** What a browser loads of the built page before a person does anything, counted as it is sent. */

import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";

/** One file of a build: its name, and for code what it brings along. */
export interface BuiltFile {
  readonly name: string;
  readonly bytes: number;
  /** The modules in it, by the ends of their paths. */
  readonly modules: readonly string[];
  /** The files that are loaded with it, styles included. */
  readonly brings: readonly string[];
}

/** Builds the page into memory; each file with its size after gzip, as pack.ts packs it. */
export async function buildPage(): Promise<BuiltFile[]> {
  const root = join(import.meta.dirname, "..");
  // Otherwise it would be built with what a test has for its authors.
  process.env.NODE_ENV = "production";
  const built = await build({
    root,
    configFile: join(root, "vite.config.ts"),
    mode: "production",
    logLevel: "silent",
    build: { write: false },
  });
  if (Array.isArray(built) || !("output" in built)) throw new Error("the build is not one page");
  return built.output.map((file): BuiltFile => {
    const content = file.type === "chunk" ? file.code : file.source;
    const bytes = gzipSync(content, { level: 9 }).length;
    if (file.type !== "chunk") return { name: file.fileName, bytes, modules: [], brings: [] };
    const styles = [...(file.viteMetadata?.importedCss ?? [])];
    const brings = [...file.imports, ...styles];
    return { name: file.fileName, bytes, modules: Object.keys(file.modules), brings };
  });
}

/**
 * The files that come with the page itself and with these modules, nothing loaded later; `language`:
 * of the words that all of them say.
 */
export function loadedWith(
  files: readonly BuiltFile[],
  modules: readonly string[],
  language: string,
): BuiltFile[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const found = new Set<BuiltFile>();
  const add = (file: BuiltFile | undefined, why: string): void => {
    if (file === undefined) throw new Error(`the build has no ${why}`);
    if (found.has(file)) return;
    found.add(file);
    for (const name of file.brings) add(byName.get(name), name);
  };
  const addModule = (module: string): void => {
    const isIn = (one: string): boolean => one.endsWith(module);
    add(
      files.find((file) => file.modules.some(isIn)),
      module,
    );
  };
  add(byName.get("index.html"), "index.html");
  for (const module of ["/src/main.ts", ...modules]) addModule(module);
  for (const area of areasOf([...found])) addModule(`/src/words/${language}/${area}.ts`);
  return [...found];
}

/** The areas of words whose code is in these files. */
export function areasOf(files: readonly BuiltFile[]): string[] {
  const names = files.flatMap(({ modules }) => modules);
  const areas = names.map((name) => /\/src\/words\/(\w+)\.ts$/.exec(name)?.[1] ?? "");
  return areas.filter((area) => !/^(formats|dates|languages?|)$/.test(area)).sort();
}

/** The bytes of files, together. */
export function sizeOf(files: readonly BuiltFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
