/** What the audit log has, by its codes: a dot is written as a line below. */

import type english from "./en/audit";
import { area } from "./language";

export const auditWords = area<typeof english>("audit");
