/** The console: which groups hang together, and what parting or moving them costs. */

import type english from "./en/map";
import { area } from "./language";

export const mapWords = area<typeof english>("map");
