/** What the settings of things and the list of a board's keys say: they come later than the board. */

import type english from "./en/settings";
import { area, files } from "./language";

Object.assign(files, import.meta.glob("./*/settings.ts", { import: "default" }));

export const settingsWords = area<typeof english>("settings");
