/** What is said of tables. */

import type english from "./en/table";
import { area } from "./language";

export const tableWords = area<typeof english>("table");
