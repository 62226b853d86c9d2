/** Where what leaves the page leads back to. */

import type { Thing } from "../../place/thing";
import { documentPath } from "../../router";
import { documentOf } from "../model/settings";

/** The whole address of a card's document; "": it shows none. */
export function documentAddress(thing: Thing): string {
  const document = documentOf(thing);
  // Outside of a page there is no server that an address could name.
  const origin = globalThis.location?.origin ?? "";
  return document === null || origin === "" ? "" : `${origin}${documentPath(document)}`;
}
