/** Shared objects in a page; docs/shared/web.md tells how to use them. */

export type { MarkPatch, Marks, Rich, RichDelta } from "../shared/rich";
export { CallError } from "./errors";
export { bind } from "./field";
export { SharedList } from "./list";
export type { Change } from "./object";
export {
  type Attribute,
  type AttributePatch,
  type Attributes,
  Outline,
  type OutlineBlock,
  type OutlineEdit,
} from "./outline";
export { SharedParts, type Sight } from "./parts";
export { RichText, type RichTextChange } from "./rich-text";
export { connect, type Options, Session, type State } from "./session";
export type { Stream } from "./stream";
export { Text, type TextChange } from "./text";
export { type Published, Topic } from "./topic";
export {
  Counter,
  type Grant,
  Lease,
  Lock,
  Register,
  SharedMap,
  SharedObject,
  type Ticket,
} from "./types";
export { Presence, type PresenceChange } from "./volatile";
