/** The messages of docs/protocol-objects.md, and their frames. */

import { decode, encode } from "./msgpack";

/** An operation and its arguments. */
export type Call = readonly [string, readonly unknown[]];
/** Version, who, operation, details. */
export type Item = readonly [number, string, string, readonly unknown[]];
/** Number, results, code. */
export type Verdict = readonly [number, readonly unknown[], string];

/** What is told of an object beside its version: the base of own edits of texts, what is seen of it. */
export interface About {
  readonly base?: number;
  readonly sight?: readonly [left: number, top: number, right: number, bottom: number];
}

export type Out =
  | { t: "hello"; v: 1; client: string; ticket?: string }
  | ({ t: "open"; name: string; type: string; birth?: string; version?: number } & About)
  | { t: "look"; name: string; sight: Required<About>["sight"] }
  | { t: "close"; name: string }
  | { t: "call"; name: string; n: number; answered: number; calls: readonly Call[] }
  | { t: "publish"; name: string; n: number; value: unknown }
  | { t: "present"; name: string; value: unknown }
  | { t: "inspect"; n: number }
  | { t: "pong" };

export interface Welcome {
  t: "welcome";
  who: string;
  node: string;
  principal: string;
  resumed: boolean;
  saves: boolean;
  heartbeat_s: number;
  limits: { frame_bytes: number; objects: number; calls: number };
}
export interface Snapshot {
  t: "snapshot";
  name: string;
  birth: string;
  version: number;
  state: unknown;
  done: readonly Verdict[];
  /** The highest number of this client's calls that the state knows. */
  last: number;
}
export interface Opened {
  t: "opened";
  name: string;
  version: number;
  done: readonly Verdict[];
}
export interface Changes {
  t: "changes";
  name: string;
  version: number;
  items: readonly Item[];
  state?: unknown;
}
export interface Result {
  t: "result";
  name: string;
  n: number;
  results: readonly unknown[];
}
export interface Refusal {
  t: "error";
  code: string;
  message: string;
  temporary: boolean;
  name?: string;
  n?: number;
}
export interface Saved {
  t: "saved";
  name: string;
  n: number;
}
export interface TopicEvent {
  t: "event";
  name: string;
  version: number;
  who: string;
  value: unknown;
}
export interface People {
  t: "people";
  name: string;
  others: readonly (readonly [string, unknown])[];
}
export interface PresenceUpdate {
  t: "presence";
  name: string;
  who: string;
  value: unknown;
}
/** What is behind the objects that the session has open; what is not known is left out. */
export interface Inspected {
  t: "inspected";
  n: number;
  at: {
    node: string;
    primary: boolean;
    view: string | null;
    members: readonly string[];
    coordinator: string | null;
    groups: number;
    sessions: number;
    connections: number;
  };
  session: {
    who: string;
    resumed: number;
    buffered_bytes: number;
    withheld: number;
    calls: number;
    objects: number;
  };
  objects: readonly InspectedObject[];
}
export interface InspectedObject {
  name: string;
  type: string;
  group?: number;
  sequencer?: string;
  epoch?: number;
  order?: string;
  head?: number;
  position?: number;
  members?: number;
  nodes?: readonly string[];
  context_entries?: number;
  context_bytes?: number;
  unsaved?: number;
}
export type ObjectMessage =
  | Snapshot
  | Opened
  | Changes
  | Result
  | Refusal
  | Saved
  | TopicEvent
  | People
  | PresenceUpdate;
/** What the node can do for pages now; it serves unless it has said otherwise. */
export interface Condition {
  t: "condition";
  condition: string;
}
/** The node does not keep up: the least time between two rounds of calls; 0: none. */
export interface Slow {
  t: "slow";
  pause_ms: number;
}
export type In = ObjectMessage | Inspected | Welcome | Condition | Slow | { t: "ping" };

export function encodeFrame(messages: readonly Out[]): Uint8Array<ArrayBuffer> {
  return encode(messages);
}

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  welcome: { who: "string", heartbeat_s: "number", limits: "object" },
  snapshot: { name: "string", birth: "string", version: "number", done: "array", last: "number" },
  opened: { name: "string", version: "number", done: "array" },
  changes: { name: "string", version: "number", items: "array" },
  result: { name: "string", n: "number", results: "array" },
  error: { code: "string", message: "string", temporary: "boolean" },
  saved: { name: "string", n: "number" },
  event: { name: "string", who: "string" },
  people: { name: "string", others: "array" },
  presence: { name: "string", who: "string" },
  inspected: { n: "number", at: "object", session: "object", objects: "array" },
  condition: { condition: "string" },
  slow: { pause_ms: "number" },
};

/** The fields that each kind of message has at least, and what they are. */
const CHECKS = new Map(
  Object.entries(FIELDS).map(([kind, fields]) => [kind, Object.entries(fields)] as const),
);

/** The messages of a frame; null when it is none. What this client does not know is left out. */
export function decodeFrame(data: unknown): In[] | null {
  if (!(data instanceof ArrayBuffer) && !ArrayBuffer.isView(data)) return null;
  let frame: unknown;
  try {
    frame = decode(data);
  } catch {
    return null;
  }
  if (!Array.isArray(frame)) return null;
  const found: In[] = [];
  for (const message of frame as unknown[]) {
    if (typeof message !== "object" || message === null) return null;
    const fields = message as Record<string, unknown>;
    const known = CHECKS.get(String(fields.t));
    if (fields.t === "ping") found.push({ t: "ping" });
    if (known === undefined) continue;
    for (const [field, kind] of known) {
      const value = fields[field];
      if (kind === "array" ? !Array.isArray(value) : typeof value !== kind) return null;
    }
    found.push(message as In);
  }
  return found;
}
