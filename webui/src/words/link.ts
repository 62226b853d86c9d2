/** What is said where a link is made or changed. */

import type english from "./en/link";
import { area } from "./language";

export const linkWords = area<typeof english>("link");
