/** What is said of texts of the person that were not taken. */

import type english from "./en/drafts";
import { area } from "./language";

export const draftsWords = area<typeof english>("drafts");
