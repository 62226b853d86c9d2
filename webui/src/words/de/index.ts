/** All words in German, by their areas: the names of the files beside this one. */

import type { area } from "../language";

type Area = Parameters<typeof area>[1];

const files = import.meta.glob<Area>(["./*.ts", "!./index.ts"], { eager: true, import: "default" });

export const all: Record<string, Area> = Object.fromEntries(
  Object.entries(files).map(([file, words]) => [file.slice(2, -3), words]),
);
