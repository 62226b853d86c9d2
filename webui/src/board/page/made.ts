/** Which things are named and set in a form of their own, not written into. */

import type { Thing } from "../../place/thing";
import { mayAct } from "../model/acts";

export function hasForm(thing: Thing): boolean {
  return mayAct(thing) || thing.kind === "clock" || thing.kind === "furniture";
}
