/** The list of documents. */

import type english from "./en/home";
import { area } from "./language";

export const homeWords = area<typeof english>("home");
