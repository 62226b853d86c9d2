/** Addresses that are proved, second factors, and new passwords. */

import type english from "./en/credentials";
import { area } from "./language";

export const credentialWords = area<typeof english>("credentials");
