/** What the codes mean that only the console meets. */

import type english from "./en/faults";
import { area } from "./language";

export const faultWords = area<typeof english>("faults");
