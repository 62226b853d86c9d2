/** What is said on a board, and in its list. */

import type english from "./en/board";
import { area } from "./language";

export const boardWords = area<typeof english>("board");
