/** The parts of the console, each with an address of its own, loaded when it is wanted. */

import type { Component } from "svelte";
import { consoleWords } from "../words/console";
import { withWords } from "../words/language";
import { mapWords } from "../words/map";
import { movesWords } from "../words/moves";
import { proofsWords } from "../words/proofs";

type Loaded<Props extends Record<string, unknown>> = Promise<{
  readonly default: Component<Props>;
}>;

interface Part {
  readonly title: () => string;
  readonly load: () => Loaded<Record<string, never>>;
  /** The page of one thing of it, by its id. */
  readonly one?: () => Loaded<{ id: string }>;
}

export const PARTS: Readonly<Record<string, Part>> = {
  "": {
    title: () => consoleWords.overview,
    load: () => withWords(import("./Overview.svelte")),
  },
  groups: {
    title: () => consoleWords.groups,
    load: () => withWords(import("./Groups.svelte")),
    one: () => withWords(import("./Group.svelte")),
  },
  overlap: {
    title: () => mapWords.overlap,
    load: () => withWords(import("./Overlap.svelte")),
    one: () => withWords(import("./Component.svelte")),
  },
  migrations: {
    title: () => movesWords.migrations,
    load: () => withWords(import("./Migrations.svelte")),
  },
  plans: {
    title: () => movesWords.plans,
    load: () => withWords(import("./Plans.svelte")),
    one: () => withWords(import("./Plan.svelte")),
  },
  nodes: {
    title: () => consoleWords.nodes,
    load: () => withWords(import("./Nodes.svelte")),
    one: () => withWords(import("./NodePage.svelte")),
  },
  sessions: {
    title: () => consoleWords.sessions,
    load: () => withWords(import("./Sessions.svelte")),
  },
  order: {
    title: () => proofsWords.order,
    load: () => withWords(import("./Order.svelte")),
    one: () => withWords(import("./Violation.svelte")),
  },
  operations: {
    title: () => proofsWords.operations,
    load: () => withWords(import("./Operations.svelte")),
  },
};
