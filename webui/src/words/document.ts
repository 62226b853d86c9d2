/** What stands around the text of a document. */

import type english from "./en/document";
import { area } from "./language";

export const documentWords = area<typeof english>("document");
