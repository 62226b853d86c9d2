/** What is said of things that act: lamps, timers, dice, votes, doors. */

import type english from "./en/acting";
import { area } from "./language";

export const actingWords = area<typeof english>("acting");
