/** Bugs that are put into a page, one at a time, which the games of tokens have to find. */

import { Shared } from "../../src/client/object";
import { Session } from "../../src/client/session";
import { BlockObject } from "../../src/document/block";
import { Confirmed } from "../../src/document/confirmed";
import { Follower } from "../../src/document/following";
import { GroupedDocument } from "../../src/document/model";
import { OutlineObject } from "../../src/document/outline";
import { Overlay } from "../../src/document/overlay";

type Act = (this: never, ...args: never[]) => unknown;
type Wrong = (real: (self: object, ...args: unknown[]) => unknown) => Act;

export interface Plant {
  readonly what: string;
  /** Puts it in; gives what takes it out. */
  readonly put: () => () => void;
}

function plant(what: string, of: { prototype: object }, method: string, wrong: Wrong): Plant {
  const put = (): (() => void) => {
    const home = of.prototype as Record<string, Act>;
    const real = home[method];
    if (real === undefined) throw new Error(`there is no ${method}`);
    home[method] = wrong((self, ...args) => real.apply(self as never, args as never[]));
    return () => {
      home[method] = real;
    };
  };
  return { what, put };
}

const nothing: Wrong = () => () => undefined;
const isNot: Wrong = () => () => false;
/** Every so many times nothing is done. */
const seldom =
  (every: number, otherwise: unknown = undefined): Wrong =>
  (real) => {
    let count = 0;
    return function (this: object, ...args) {
      count += 1;
      return count % every === 0 ? otherwise : real(this, ...args);
    };
  };

export const PLANTS: readonly Plant[] = [
  plant(
    "own edits are not carried over what others did",
    Overlay,
    "cross",
    () =>
      function (this: never, _from: never, _to: never, steps: never) {
        return steps;
      } as Act,
  ),
  plant(
    "an own verb is not gathered, though it is said to be",
    Overlay,
    "gathered",
    seldom(7, true),
  ),
  plant("an own verb that has happened stays", Overlay, "drop", () => () => null),
  plant(
    "parts of answered edits are not known by their parcels",
    Follower,
    "onBlockAnswer",
    (real) =>
      function (this: never, block: never, n: never, results: readonly never[], code: never) {
        const passed = results?.map((one: { moved?: unknown } | null) =>
          one?.moved === undefined ? one : { ...one, moved: [] },
        );
        return real(this, block, n, results && passed, code);
      } as Act,
  ),
  plant("a split that met another one is not done again", Follower, "again", nothing),
  plant("answers are passed over", Follower, "answered", seldom(5)),
  plant("the outline's details are lost now and then", Follower, "onOutline", seldom(6)),
  plant("a block's text is not taken anew", BlockObject, "take", seldom(4)),
  plant("a block does not follow what happens", BlockObject, "follow", seldom(9)),
  plant("a block's calls are lost behind a reconnect", Shared, "sendWaiting", seldom(6)),
  plant(
    "changes are taken twice",
    Shared,
    "onChanges",
    (real) =>
      function (this: { version: number }, message: never) {
        const before = this.version;
        real(this, message);
        this.version = before;
        return real(this, message);
      } as Act,
  ),
  plant("messages of a frame are passed over", Session, "received", seldom(12)),
  plant("the outline is not followed", OutlineObject, "follow", seldom(8)),
  plant("blocks that leave stay", OutlineObject, "leave", nothing),
  plant("a text on its way is shown nowhere", Confirmed, "leaving", () => () => null),
  plant(
    "verbs are lost while a connection is made",
    GroupedDocument,
    "change",
    (real) =>
      function (this: { session: Session }, verbs: never) {
        return this.session.state === "connected" ? real(this, verbs) : undefined;
      } as Act,
  ),
  plant("a verb is lost now and then", Overlay, "add", seldom(11)),
  plant("an answer is lost now and then", Shared, "answer", seldom(7)),
  plant("what is open again behind a reconnect is not taken for open", Shared, "onOpened", nothing),
  plant("the outline does not move blocks", OutlineObject, "place", nothing),
  plant("a message to the node is lost now and then", Session, "send", seldom(15)),
  plant("no block is opened that is in sight", GroupedDocument, "isLive", isNot),
  plant("a snapshot is lost now and then", Shared, "onSnapshot", seldom(4)),
  plant("a text of an order that began anew is compared", BlockObject, "hasLostSteps", isNot),
];
