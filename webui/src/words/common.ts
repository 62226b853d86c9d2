/** What several pages say. */

import type english from "./en/common";
import { area } from "./language";

export const commonWords = area<typeof english>("common");
