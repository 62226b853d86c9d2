/** What the list of the people who are here says. */

import type english from "./en/panel";
import { area } from "./language";

export const panelWords = area<typeof english>("panel");
