/** The console: what an audit has found of one row. */

import type english from "./en/found";
import { area } from "./language";

export const foundWords = area<typeof english>("found");
