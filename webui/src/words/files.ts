/** Folders, the trash, favourites, and what is done with files. */

import type english from "./en/files";
import { area } from "./language";

export const filesWords = area<typeof english>("files");
