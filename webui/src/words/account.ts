/** Signing in, one's own account, and who may what. */

import type english from "./en/account";
import { area } from "./language";

export const accountWords = area<typeof english>("account");
