/** Tests read English: all words are here before they begin. */

import { vi } from "vitest";
import { loadLanguage } from "../src/words/language";

import.meta.glob("../src/words/*.ts", { eager: true });
const isPage = typeof document !== "undefined";
if (!isPage) vi.stubGlobal("document", { documentElement: {} });
await loadLanguage("en");
if (!isPage) vi.unstubAllGlobals();
