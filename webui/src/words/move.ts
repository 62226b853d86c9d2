/** What is said of moving blocks. */

import type english from "./en/move";
import { area } from "./language";

export const moveWords = area<typeof english>("move");
