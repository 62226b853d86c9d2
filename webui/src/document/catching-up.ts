/**
 * The order in which to look at what several objects have missed.
 *
 * Each object is told by itself, behind a reconnect. What happened between two of them is told in
 * both: a text leaves the one and comes to the other, and then the one hears that it has arrived.
 * In this order texts are never missing, and never there twice.
 */

import type { ObjectMessage } from "../client/messages";
import { type Again, type BlockDetail, BlockObject, type BlockState } from "./block";
import type { OutlineDetail, OutlineObject } from "./outline";

export type Heard = readonly [object: BlockObject | OutlineObject, message: ObjectMessage];

/** One item of what an object has missed, and what it says of texts that come and go. */
interface Part {
  readonly heard: Heard;
  /** The block that its text goes to. */
  readonly goesTo: readonly string[];
  /** Blocks from which texts have come. */
  readonly comesFrom: readonly string[];
  /** Blocks that are known to have what they were given. */
  readonly arrived: readonly string[];
}

/** What an object is told. */
export function detailsOf(message: ObjectMessage): (BlockDetail | OutlineDetail)[] {
  if (message.t !== "changes") return [];
  const details = message.items.flatMap((item) => item[3]) as (BlockDetail | null)[];
  return details.filter((detail) => detail !== null);
}

type Gone = readonly [to: string, isFresh: boolean];

/** Blocks to which texts have gone meanwhile, by what one block has missed; which began with that. */
export function wentTo(message: ObjectMessage): Gone[] {
  if (message.t !== "snapshot")
    return detailsOf(message).flatMap((detail): Gone[] => {
      if (detail[0] === "cut") return [[detail[3], true]];
      return detail[0] === "closed" && detail[2] !== null ? [[detail[2], false]] : [];
    });
  const { recent } = message.state as BlockState;
  return (recent ?? []).flatMap(([kind, , to]): Gone[] =>
    kind === "cut" || kind === "all" ? [[to, kind === "cut"]] : [],
  );
}

/** Blocks to which a text has gone, from one block or by it, also before it was told of last. */
export function goneTo(message: ObjectMessage): ReadonlySet<string> {
  const ids = wentTo(message).map(([to]) => to);
  if (message.t === "snapshot") ids.push((message.state as BlockState).into);
  for (const detail of detailsOf(message))
    if (detail[0] === "received" && detail[4] !== "") ids.push(detail[4]);
  return new Set(ids);
}

/** Blocks whose texts have come, by what one block says; or (`isAny`) edits of these, too. */
export function comeFrom(message: ObjectMessage, isAny = false): string[] {
  if (message.t === "snapshot")
    return (message.state as BlockState).received.map(([source]) => source);
  return detailsOf(message).flatMap((detail) =>
    detail[0] === "received" && (isAny || detail[6]) ? [detail[1]] : [],
  );
}

/** Whether letters stand again elsewhere that were cut out meanwhile: only the block carries edits there. */
function hasLettersAgain(block: BlockObject, message: ObjectMessage): boolean {
  const isElsewhere = ([, , , into]: Again): boolean => !block.name.endsWith(`/${into}`);
  if (message.t !== "snapshot")
    return detailsOf(message).some(
      (detail) => detail[0] === "again" && detail[1].some(isElsewhere),
    );
  const { again } = message.state as BlockState;
  return (again ?? []).some((one) => (one[0] === 0 || one[0] > block.steps) && isElsewhere(one));
}

/**
 * Whether steps lead from what is here to all that has become of these texts, wherever they went.
 * `open`: an open block; `isBegun`: whether what a block has begun with, or is, is here as its text.
 */
export function isTold(
  texts: Iterable<string>,
  missed: readonly Heard[],
  open: (id: string) => BlockObject | undefined,
  isBegun: (id: string) => boolean,
): boolean {
  const seen = new Set<string>();
  const fresh = new Set<string>();
  const due = [...texts];
  for (let id = due.pop(); id !== undefined; id = due.pop()) {
    const block = open(id);
    if (seen.has(id) || block === undefined) continue;
    seen.add(id);
    const its = missed.filter(([object]) => object === block);
    if (its.length === 0 && !block.isKnown) return false;
    for (const [, message] of its) {
      if (!isInSteps(block, message) || !(block.isKnown || fresh.has(id) || isBegun(id)))
        return false;
      if (hasLettersAgain(block, message)) return false;
      for (const [to, isFresh] of wentTo(message)) {
        if (open(to) === undefined) return false;
        if (isFresh) fresh.add(to);
        due.push(to);
      }
    }
  }
  return true;
}

function isInSteps(block: BlockObject, message: ObjectMessage): boolean {
  if (message.t === "error") return false;
  if (message.t === "changes") return message.state === undefined;
  if (message.t !== "snapshot") return true;
  const { recent, version } = message.state as BlockState;
  const { birth } = block.stored;
  const isSame = birth === null || birth === message.birth;
  return isSame && recent !== null && block.steps + recent.length === version;
}

/** The messages in their order; `idOf`: a block's id. Messages of other objects come last. */
export function inOrder(
  missed: readonly Heard[],
  idOf: (block: BlockObject) => string,
): readonly Heard[] {
  const queues = new Map<string, Part[]>();
  const rest: Heard[] = [];
  for (const heard of missed) {
    const [object] = heard;
    if (!(object instanceof BlockObject)) {
      rest.push(heard);
      continue;
    }
    const id = idOf(object);
    queues.set(id, [...(queues.get(id) ?? []), ...partsOf(heard)]);
  }
  const sorted: Heard[] = [];
  while (queues.size > 0) {
    const free = [...queues].find(([id, [first]]) => isFree(id, first as Part, queues));
    const [id, parts] = free ?? ([...queues][0] as [string, Part[]]);
    sorted.push((parts.shift() as Part).heard);
    if (parts.length === 0) queues.delete(id);
  }
  return [...sorted, ...rest];
}

/** Whether nothing has to be looked at before: the text that comes has to go first, and so on. */
function isFree(id: string, part: Part, queues: ReadonlyMap<string, readonly Part[]>): boolean {
  const isFirst = (other: string, waits: (one: Part) => boolean): boolean =>
    other === id || queues.get(other)?.some(waits) !== true;
  return (
    part.comesFrom.every((source) => isFirst(source, ({ goesTo }) => goesTo.includes(id))) &&
    part.arrived.every((into) => isFirst(into, ({ comesFrom }) => comesFrom.includes(id)))
  );
}

function partsOf(heard: Heard): Part[] {
  const [object, message] = heard;
  const nothing = { goesTo: [], comesFrom: [], arrived: [] };
  if (message.t === "snapshot") {
    const { into, received } = message.state as BlockState;
    const gone = wentTo(message);
    // What began here and has come back is looked at within this one, by `hearFresh`.
    const fresh = new Set(gone.flatMap(([to, isFresh]) => (isFresh ? [to] : [])));
    const comesFrom = received.map(([source]) => source).filter((source) => !fresh.has(source));
    const goesTo = gone.map(([to]) => to);
    return [{ heard, ...nothing, goesTo: into === "" ? goesTo : [...goesTo, into], comesFrom }];
  }
  if (message.t !== "changes" || message.items.length === 0) return [{ heard, ...nothing }];
  return message.items.map((item, at) => {
    const isLast = at === message.items.length - 1;
    const one = { ...message, version: isLast ? message.version : item[0], items: [item] };
    return { heard: [object, one], ...told(detailsOf(one)) };
  });
}

function told(details: ReturnType<typeof detailsOf>): Omit<Part, "heard"> {
  const goesTo: string[] = [];
  const comesFrom: string[] = [];
  const arrived: string[] = [];
  for (const detail of details) {
    if (detail[0] === "cut") goesTo.push(detail[3]);
    if (detail[0] === "closed" && detail[2] !== null) goesTo.push(detail[2]);
    if (detail[0] === "handed") arrived.push(detail[1]);
    if (detail[0] !== "received") continue;
    comesFrom.push(detail[1]);
    if (detail[4] !== "") goesTo.push(detail[4]);
  }
  return { goesTo, comesFrom, arrived };
}
