/** The messages between page and node, as docs/protocol-browser.md defines them. */

import { type Attributes, isAttributes, isChange, type Transaction } from "../model/changes";

export const SUBPROTOCOL = "groupcore.v1.msgpack";

export interface Hello {
  t: "hello";
  v: 1;
  client: string;
  name: string;
}
export interface Open {
  t: "open";
  doc: string;
  epoch?: number;
  version?: number;
}
export interface Close {
  t: "close";
  doc: string;
}
export interface Submit {
  t: "submit";
  doc: string;
  op: number;
  epoch: number;
  base: number;
  changes: Transaction;
}
export interface SendCaret {
  t: "caret";
  doc: string;
  block: string | null;
  anchor: number;
  head: number;
}
export interface Pong {
  t: "pong";
}
export type ClientMessage = Hello | Open | Close | Submit | SendCaret | Pong;

export interface Limits {
  frame_bytes: number;
  changes: number;
  block_text: number;
  blocks: number;
}
export interface Welcome {
  t: "welcome";
  v: number;
  session: string;
  node: string;
  server: string;
  heartbeat_s: number;
  limits: Limits;
}
export interface Opened {
  t: "opened";
  doc: string;
  epoch: number;
  version: number;
  saved: number;
}
export type WireBlock = readonly [id: string, attributes: Attributes, text: string];
export interface Snapshot {
  t: "snapshot";
  doc: string;
  epoch: number;
  version: number;
  saved: number;
  title: string;
  blocks: readonly WireBlock[];
  applied: number;
}
export interface Update {
  t: "update";
  doc: string;
  epoch: number;
  version: number;
  changes: Transaction;
  client: string;
  op: number;
  name: string;
}
export interface Saved {
  t: "saved";
  doc: string;
  epoch: number;
  version: number;
}
export interface Reject {
  t: "reject";
  doc: string;
  op: number;
  code: string;
  message: string;
  temporary: boolean;
}
export interface Person {
  who: string;
  name: string;
  block: string | null;
  anchor: number;
  head: number;
}
export interface People {
  t: "people";
  doc: string;
  people: readonly Person[];
}
export interface Caret extends Person {
  t: "caret";
  doc: string;
}
export interface Left {
  t: "left";
  doc: string;
  who: string;
}
export interface Status {
  t: "status";
  state: "serving" | "stale";
}
export interface ProblemMessage {
  t: "error";
  code: string;
  message: string;
  temporary: boolean;
  doc?: string;
}
export interface Ping {
  t: "ping";
}
export type ServerMessage =
  | Welcome
  | Opened
  | Snapshot
  | Update
  | Saved
  | Reject
  | People
  | Caret
  | Left
  | Status
  | ProblemMessage
  | Ping;
/** A message about one document's content. */
export type DocumentMessage = Opened | Snapshot | Update | Saved | Reject;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isCount: Check = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
const isSeconds: Check = (value) => typeof value === "number" && value > 0;
const isTransaction: Check = (value) => Array.isArray(value) && value.every(isChange);
const isBlock: Check = (value) =>
  Array.isArray(value) &&
  value.length === 3 &&
  isText(value[0]) &&
  isAttributes(value[1]) &&
  isText(value[2]);
const isBlocks: Check = (value) => Array.isArray(value) && value.every(isBlock);
const isPerson: Check = (value) => hasFields(value, PERSON);
const isPeople: Check = (value) => Array.isArray(value) && value.every(isPerson);
const isLimits: Check = (value) =>
  hasFields(value, {
    frame_bytes: isCount,
    changes: isCount,
    block_text: isCount,
    blocks: isCount,
  });

const PERSON = {
  who: isText,
  name: isText,
  block: (value: unknown) => value === null || isText(value),
  anchor: isCount,
  head: isCount,
};
const POSITION = { doc: isText, epoch: isCount, version: isCount };

const FIELDS: Record<ServerMessage["t"], Record<string, Check>> = {
  welcome: {
    v: (value) => value === 1,
    session: isText,
    node: isText,
    server: isText,
    heartbeat_s: isSeconds,
    limits: isLimits,
  },
  opened: { ...POSITION, saved: isCount },
  snapshot: { ...POSITION, saved: isCount, title: isText, blocks: isBlocks, applied: isCount },
  update: { ...POSITION, changes: isTransaction, client: isText, op: isCount, name: isText },
  saved: POSITION,
  reject: { doc: isText, op: isCount, code: isText, message: isText, temporary: isFlag },
  people: { doc: isText, people: isPeople },
  caret: { doc: isText, ...PERSON },
  left: { doc: isText, who: isText },
  status: { state: (value) => value === "serving" || value === "stale" },
  error: { code: isText, message: isText, temporary: isFlag },
  ping: {},
};

function hasFields(value: unknown, fields: Record<string, Check>): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const map = value as Record<string, unknown>;
  return Object.entries(fields).every(([name, check]) => check(map[name]));
}

/** A frame that is not of the documented form; the connection is closed with 1008. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/**
 * The messages of a decoded frame.
 *
 * Unknown kinds and unknown keys are passed over, so that a newer node can add to them; a known
 * kind with wrong fields throws ProtocolError.
 */
export function readMessages(frame: unknown): ServerMessage[] {
  if (!Array.isArray(frame)) throw new ProtocolError("a frame must be an array of messages");
  const messages: ServerMessage[] = [];
  for (const entry of frame as unknown[]) {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) {
      throw new ProtocolError("a message must be a map");
    }
    const kind = (entry as Record<string, unknown>).t;
    if (typeof kind !== "string") throw new ProtocolError("a message must name its kind");
    if (!Object.hasOwn(FIELDS, kind)) continue;
    if (!hasFields(entry, FIELDS[kind as ServerMessage["t"]])) {
      throw new ProtocolError(`the message ${kind} does not have its fields`);
    }
    messages.push(entry as ServerMessage);
  }
  return messages;
}
