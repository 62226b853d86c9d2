/** What is said at an address where nothing is. */

import type english from "./en/nowhere";
import { area } from "./language";

export const nowhereWords = area<typeof english>("nowhere");
