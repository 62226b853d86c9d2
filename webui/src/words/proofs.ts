/** The console: what shows that the order was kept, backups, and what was done. */

import type english from "./en/proofs";
import { area } from "./language";

export const proofsWords = area<typeof english>("proofs");
