/** What the server holds of a person: tries to sign in, a file of it all, and its end. */

import type english from "./en/own-data";
import { area } from "./language";

export const ownDataWords = area<typeof english>("own-data");
