import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { SharedList } from "../../src/client/list";
import {
  type Changes,
  decodeFrame,
  encodeFrame,
  type Out,
  type Snapshot,
} from "../../src/client/messages";
import { Outline } from "../../src/client/outline";
import { RichText } from "../../src/client/rich-text";
import type { Kind, Openable } from "../../src/client/session";
import { Text } from "../../src/client/text";
import { Counter, Lock, Register, SharedMap } from "../../src/client/types";
import { BlockObject } from "../../src/document/block";
import { OutlineObject } from "../../src/document/outline";
import { TalkObject } from "../../src/place/talk";
import { CellObject, PlaceObject, type WireOutline } from "../../src/place/wire";
import { cellToWire } from "../place/cell-to-wire";
import { FakeHost } from "./host";

interface Vectors {
  frames: { messages: Out[]; hex: string }[];
  objects: { type: string; snapshot: Snapshot; changes: Changes[]; final: unknown }[];
}

const path = new URL("../../../docs/vectors/objects.json", import.meta.url);
const vectors = JSON.parse(readFileSync(path, "utf-8")) as Vectors;

const KINDS: Record<string, [Kind<Openable>, (object: never) => unknown]> = {
  Counter: [Counter, (counter: Counter) => ({ value: counter.value })],
  List: [SharedList, (list: SharedList) => list.items()],
  Lock: [Lock, (lock: Lock) => ({ queue: lock.queue })],
  Map: [SharedMap, (map: SharedMap) => map.entries()],
  Register: [
    Register,
    (register: Register) => ({ value: register.value, writer: register.writer }),
  ],
  Outline: [
    Outline,
    (outline: Outline) => ({
      title: outline.title,
      version: outline.edits,
      blocks: outline.blocks().map(({ id, attributes, text }) => [id, attributes, text]),
    }),
  ],
  RichText: [
    RichText,
    (text: RichText) => ({ content: text.content, version: text.confirmedEdits, recent: null }),
  ],
  // `via` is what the page adds to a state when it stores one: nodes do not send it.
  Block: [BlockObject, ({ state: { via, ...state } }: BlockObject) => state],
  Cell: [CellObject, (cell: CellObject) => cellToWire(cell.state)],
  PlaceOutline: [PlaceObject, (place: PlaceObject) => place.state],
  PlaceTalk: [TalkObject, (talk: TalkObject) => talk.state],
  DocumentOutline: [OutlineObject, (outline: OutlineObject) => outline.state],
  Text: [Text, (text: Text) => ({ text: text.value, version: text.confirmedEdits, recent: null })],
};

/** A place in any order, without what is nothing any more; `version` is of the last that was told. */
function inOrder(state: unknown): unknown {
  const { tree, far, version, ...place } = state as WireOutline;
  const isMore = (
    [one]: readonly [string, ...unknown[]],
    [other]: readonly [string, ...unknown[]],
  ) => (one < other ? -1 : 1);
  const there = far.filter(([, count]) => count > 0);
  const cells = tree.filter(([, role]) => role !== "out");
  return { ...place, tree: cells.sort(isMore), far: there.sort(isMore) };
}

test.each(vectors.objects)("a $type is followed from its snapshot on", (script) => {
  const [kind, stateOf] = KINDS[script.type] ?? [];
  if (kind === undefined || stateOf === undefined) throw new Error(`no ${script.type}`);
  const object = new kind(new FakeHost(), "it", script.type);
  object.hear(script.snapshot);
  for (const changes of script.changes) {
    object.hear(changes);
    object.hear(changes); // a second time it is passed over
  }
  const [found, final] = [stateOf(object as never), script.final];
  if (script.type === "PlaceOutline") expect(inOrder(found)).toEqual(inOrder(final));
  else expect(found).toEqual(final);
});

test.each(vectors.frames)("frames are those of the node: $messages", ({ messages, hex }) => {
  expect(Buffer.from(encodeFrame(messages)).toString("hex")).toBe(hex);
});

test("what is no frame is none", () => {
  const frames = ["", "c1", "80", "9101", "91c0", "9181a174a8736e617073686f74"];
  for (const hex of frames) expect(decodeFrame(new Uint8Array(Buffer.from(hex, "hex")))).toBeNull();
  expect(decodeFrame("text")).toBeNull();
  // An unknown kind is left out.
  expect(decodeFrame(new Uint8Array(Buffer.from("9181a174a3776f77", "hex")))).toEqual([]);
});
