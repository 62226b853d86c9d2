/** The inspector: what is behind a document, for who wants to see how it works. */

import { number } from "../formats";
import { area } from "../language";

export const inspectorWords = area("inspector", {
  title: "Inspector",
  close: "Close",
  waiting: "Waiting for the node…",
  node: "Node",
  view: "View",
  members: "Members",
  coordinator: "Coordinator",
  session: "Session",
  subprotocol: "Protocol",
  roundTrip: "Round trip",
  milliseconds: (time: string) => `${time} ms`,
  resumed: "Resumed",
  queue: "Queue",
  queued: (size: number, objects: number) =>
    `${number(size)} bytes, ${number(objects)} objects held back`,
  ordinary: "primary",
  apart: "not in the primary view",
  groups: "Groups of this page",
  caption: (shown: number, all: number) =>
    `${number(shown)} groups of this page, of ${number(all)} that the node knows`,
  object: "Object",
  type: "Type",
  sequencer: "Sequencer",
  epoch: "Epoch",
  head: "Head",
  position: "Position",
  sessions: "Members",
  replicas: "Replicas",
  contextEntries: "Context entries",
  contextBytes: "Context bytes",
  unsaved: "Unsaved frames",
  middle: "Own call p50 (ms)",
  slowest: "Own call p99 (ms)",
  moved: "moved",
  log: "Last events",
  filter: "Filter events",
  pause: "Pause",
  goOn: "Go on",
  copy: "Copy as JSON",
  copied: "Copied",
  noEvents: "No events.",
});
