/**
 * What needs not be shown before the next thing is heard: it moves neither a text nor a block.
 *
 * A frame of a document in which many write has dozens of edits. Each of them is a step, and the
 * steps are carried over own verbs one by one; but what is shown is made once for all of them.
 */

import type { ObjectMessage } from "../client/messages";
import { type BlockDetail, BlockObject } from "./block";
import { detailsOf } from "./catching-up";
import type { Confirmed } from "./confirmed";
import type { OutlineDetail, OutlineObject } from "./outline";

const IN_TEXT: ReadonlySet<string> = new Set<BlockDetail[0]>(["edited", "set", "handed"]);
const OF_ENTRIES: ReadonlySet<string> = new Set<OutlineDetail[0]>(["known", "planted"]);

/** Whether a message only changes texts that are shown as they are, or what is known from afar. */
export function goesOnHere(
  confirmed: Confirmed,
  object: BlockObject | OutlineObject,
  message: ObjectMessage,
): boolean {
  if (message.t !== "changes") return false;
  const isText = object instanceof BlockObject;
  if (isText) {
    const shown = confirmed.doc.blocks.get(confirmed.idOf(object))?.content ?? null;
    if (object.status !== "open" || shown === null) return false;
  }
  const kinds = isText ? IN_TEXT : OF_ENTRIES;
  return detailsOf(message).every(([kind]) => kinds.has(kind));
}
