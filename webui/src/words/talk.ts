/** What is said in the chat of a place. */

import type english from "./en/talk";
import { area, files } from "./language";

Object.assign(files, import.meta.glob("./*/talk.ts", { import: "default" }));

export const talkWords = area<typeof english>("talk");
