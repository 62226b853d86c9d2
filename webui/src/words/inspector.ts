/** The inspector: what is behind a document, for who wants to see how it works. */

import type english from "./en/inspector";
import { area } from "./language";

export const inspectorWords = area<typeof english>("inspector");
