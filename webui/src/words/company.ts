/** Following somebody, and being called. */

import type english from "./en/company";
import { area } from "./language";

export const companyWords = area<typeof english>("company");
