/** Pictures on their way, and what they are said to show. */

import type english from "./en/uploads";
import { area } from "./language";

export const uploadWords = area<typeof english>("uploads");
