/** What is said of what the server can do. */

import type english from "./en/node";
import { area } from "./language";

export const nodeWords = area<typeof english>("node");
