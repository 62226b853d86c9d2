/** What the codes of the HTTP API and of the socket mean to people. */

import type english from "./en/problems";
import { area } from "./language";

export const problemWords = area<typeof english>("problems");
