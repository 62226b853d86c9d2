/** Why a document is not here, or not any more. */

import type english from "./en/stopped";
import { area } from "./language";

export const stoppedWords = area<typeof english>("stopped");
