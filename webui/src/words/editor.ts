/** What is said in the text of a document, and of what a block can be. */

import type english from "./en/editor";
import { area } from "./language";

export const editorWords = area<typeof english>("editor");
