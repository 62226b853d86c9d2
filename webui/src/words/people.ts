/** Who is in a document: the list. */

import type english from "./en/people";
import { area } from "./language";

export const peopleWords = area<typeof english>("people");
