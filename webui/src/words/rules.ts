/** The console: the rules of the order, as people read them. */

import type english from "./en/rules";
import { area } from "./language";

export const rulesWords = area<typeof english>("rules");
