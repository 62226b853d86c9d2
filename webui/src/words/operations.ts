/** The console: backups, restoring, pruning, and how far they are. */

import type english from "./en/operations";
import { area } from "./language";

export const operationsWords = area<typeof english>("operations");
