/** What is said of documents on boards and walls, and of presenting. */

import type english from "./en/cards";
import { area, files } from "./language";

Object.assign(files, import.meta.glob("./*/cards.ts", { import: "default" }));

export const cardsWords = area<typeof english>("cards");
