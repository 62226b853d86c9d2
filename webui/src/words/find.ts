/** What is said of finding and replacing. */

import type english from "./en/find";
import { area } from "./language";

export const findWords = area<typeof english>("find");
