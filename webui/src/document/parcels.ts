/**
 * Parts of own edits on their way after their texts: which parcel each is by now.
 *
 * A part goes from block to block until it has come to its text. Each block says with a parcel in which
 * ones parts of it went on. So a part is known when it comes, however many blocks it has passed, and
 * what the person has done to its words meanwhile rests on it until then.
 */

import {
  type BlockObject,
  type BlockState,
  type Place,
  keyOf as parcelKey,
  partsBy,
} from "./block";
import { type Own, type OwnCall, parcelTo } from "./carry";
import type { Came } from "./overlay";

export type Blocks = ReadonlyMap<string, BlockObject>;

/** The block that has sent the parcel of a part. */
export function sourceOf({ call, from }: Own): string {
  return from ?? call?.group ?? "";
}

/** The parcel of a part. */
export function keyOf(own: Own): string {
  return `${sourceOf(own)}:${own.parcel}`;
}

/** The own verbs, with the parcels of parts of this call, as its verdict says. */
export function sent(all: readonly Own[], call: OwnCall): Own[] {
  return all.map((own) => {
    const isPart = own.call === call && own.hop !== "" && own.parcel === 0;
    if (!isPart || own.from !== undefined) return own;
    const [hop, parcel] = parcelTo(own.hop, call);
    return { ...own, hop, parcel };
  });
}

/**
 * So, with what has not come as an own step of the block that was called: it is shown there until it is
 * where it went. That is where a text goes which is on its way, or after letters that stood beside it.
 */
export function routed(all: readonly Own[], call: OwnCall, blocks: Blocks): Own[] {
  const moved = (call.moved ?? []).map(([to]) => to);
  const source = blocks.get(call.group);
  const to = source?.status === "joined" ? source.via || source.into : "";
  const left = moved.filter((id) => !all.some((own) => own.call === call && own.hop === id));
  const into = moved.includes(to) ? to : left.length === 1 ? left[0] : undefined;
  const put = (own: Own): Own => ({ ...own, hop: own.hop || into || "" });
  return sent(into ? all.map((own) => (own.call === call ? put(own) : own)) : all, call);
}

/** Whether an own verb is a part of an edit that went to a block as this parcel. */
export function isParcel(source: string, [block, number]: Place): (own: Own) => boolean {
  return (own) =>
    own.hop === block && own.parcel === number && number > 0 && sourceOf(own) === source;
}

/** Which parcels have come to a block, and which of them it has refused. */
interface Come {
  readonly received: ReadonlyMap<string, number>;
  readonly refused: ReadonlySet<string>;
}

/**
 * Whether a part has come to the block that it went to, `there`: it is there, or went on from there. What
 * was refused has not, until it is back.
 */
export function hasCome(
  own: Own,
  blocks: Blocks,
  there: Come | undefined = blocks.get(own.hop),
): boolean {
  if (own.parcel === 0 || (there?.received.get(sourceOf(own)) ?? 0) < own.parcel) return false;
  return there?.refused.has(keyOf(own)) !== true || isBack(own, blocks);
}

/** Which own parts have come to a block, as its state says; but for these, by their keys. */
export function comeBy(id: string, { received, refused }: BlockState, blocks: Blocks) {
  const there = { received: new Map(received), refused: new Set(refused.map(parcelKey)) };
  return (own: Own, known?: ReadonlySet<string>): boolean =>
    own.hop === id && hasCome(own, blocks, there) && known?.has(keyOf(own)) !== true;
}

/** Whether the block that had sent a part has it again, with its text. */
export function isBack(own: Own, blocks: Blocks): boolean {
  return blocks.get(sourceOf(own))?.parted.has(`>${own.hop}:${own.parcel}`) === true;
}

/**
 * Parts that came to a block, and that it has passed on to where they are shown, as its state says.
 * `known`: parcels of which its steps have told, the others are not shown where they are not.
 */
export function onwardFrom(
  id: string,
  passed: NonNullable<BlockState["passed"]>,
  known?: ReadonlySet<string>,
): readonly Came[] {
  const left = [...partsBy(passed)].filter(([key]) => known?.has(key) !== true);
  return left.map(([key, all]) => {
    const end = key.lastIndexOf(":");
    const isIt = isParcel(key.slice(0, end), [id, Number(key.slice(end + 1))]);
    const isHere = (own: Own): boolean => own.verb[1] === id;
    if (known !== undefined) return { isPart: isIt, isHere, places: all };
    return { isPart: (own) => isIt(own) && own.verb[1] !== id, isHere: null, places: all };
  });
}

/** A part that its block has passed on in one of these parcels; null: it is not known in which. */
export function passedOn(own: Own, places: readonly Place[], blocks: Blocks): Own | null {
  const all = places.filter(([, number]) => number > 0);
  const likely = all.length > 1 ? all.filter(([to]) => isOnWay(to, own.verb[1], blocks)) : all;
  const [next] = likely;
  if (next === undefined || likely.length > 1) return null;
  return { ...own, from: own.hop, hop: next[0], parcel: next[1] };
}

/** A part as far as it is known where it has been passed on to. */
export function caughtUp(part: Own, blocks: Blocks): Own {
  const seen = new Set<string>();
  let own = part;
  for (;;) {
    const there = blocks.get(own.hop);
    const key = keyOf(own);
    if (there === undefined || !hasCome(own, blocks) || seen.has(own.hop + key)) return own;
    seen.add(own.hop + key);
    const next = passedOn(own, there.parted.get(key) ?? [], blocks);
    if (next === null) return own;
    own = next;
  }
}

/** Whether texts have gone from a block to this one, as far as that is known here. */
function isOnWay(from: string, to: unknown, blocks: Blocks): boolean {
  const seen = new Set<string>();
  const due = [from];
  for (let id = due.pop(); id !== undefined; id = due.pop()) {
    if (id === to) return true;
    const block = blocks.get(id);
    if (seen.has(id) || block === undefined) continue;
    seen.add(id);
    if (block.status === "joined") due.push(block.into);
    due.push(...block.births.keys());
    for (const [, step] of block.past) if (step[0] === "cut") due.push(step[2]);
  }
  return false;
}
