/** What is said of code. */

import type english from "./en/code";
import { area } from "./language";

export const codeWords = area<typeof english>("code");
