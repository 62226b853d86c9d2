/** The console: how the cluster stands, and what is done with it. */

import type english from "./en/console";
import { area } from "./language";

export const consoleWords = area<typeof english>("console");
