/** What is said while no server can be reached. */

import type english from "./en/away";
import { area } from "./language";

export const awayWords = area<typeof english>("away");
