/** The console: moves of groups between sequencers, and plans. */

import type english from "./en/moves";
import { area } from "./language";

export const movesWords = area<typeof english>("moves");
