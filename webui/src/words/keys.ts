/** What the keys do, for the list of them. */

import type english from "./en/keys";
import { area } from "./language";

export const keysWords = area<typeof english>("keys");
