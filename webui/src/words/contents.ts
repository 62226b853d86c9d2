/** The headings of a document, to go to. */

import type english from "./en/contents";
import { area } from "./language";

export const contentsWords = area<typeof english>("contents");
