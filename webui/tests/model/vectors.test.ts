import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Change, Transaction } from "../../src/model/changes";
import { type Block, DocumentValue } from "../../src/model/document";
import { rebaseBoth, rebaseChange } from "../../src/model/rebase";
import { readMessages, type WireBlock } from "../../src/protocol/messages";
import {
  applyDelta,
  composeDelta,
  type Delta,
  divideDelta,
  isDelta,
  transformDelta,
  transformPosition,
} from "../../src/shared/delta";
import { RefusalError } from "../../src/shared/refusal";
import { plain } from "../random";

function read<T>(name: string): T {
  const path = new URL(`../../../docs/vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf-8")) as T;
}

interface DeltaVectors {
  apply: { text: string; delta: Delta; result: string }[];
  compose: { first: Delta; second: Delta; result: Delta }[];
  transform: { delta: Delta; other: Delta; other_first: boolean; result: Delta }[];
  divide: { delta: Delta; at: number; before: Delta; behind: Delta; at_after: number }[];
  not_canonical: { wire: unknown }[];
}
interface RebaseVectors {
  changes: {
    name: string;
    mine: Change;
    other: Change;
    mine_first: boolean;
    result?: Transaction;
    refused?: string;
  }[];
  transactions: {
    first: Transaction;
    later: Transaction;
    first_result?: Transaction;
    later_result?: Transaction;
    refused?: string;
  }[];
}
interface Content {
  title: string;
  blocks: WireBlock[];
}
interface Verdict {
  changes?: Transaction;
  refused?: string;
  repeated: boolean;
  version?: number;
}
interface DocumentVectors {
  scripts: { start: Content; final: Content; submits: { verdict: Verdict }[] }[];
}

const deltas = read<DeltaVectors>("delta");
const rebases = read<RebaseVectors>("rebase");
const scripts = read<DocumentVectors>("document").scripts;

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof RefusalError) return error.code;
    throw error;
  }
  return "not refused";
}

function documentOf({ title, blocks }: Content): DocumentValue {
  const list: Block[] = blocks.map(([id, attributes, text]) => ({ id, attributes, text }));
  return new DocumentValue(title, list);
}

test("deltas apply as the vectors say", () => {
  for (const { text, delta, result } of deltas.apply) expect(applyDelta(delta, text)).toBe(result);
});

test("deltas compose as the vectors say", () => {
  for (const { first, second, result } of deltas.compose) {
    expect(composeDelta(first, second)).toEqual(result);
  }
});

test("deltas transform as the vectors say", () => {
  for (const { delta, other, other_first, result } of deltas.transform) {
    expect(transformDelta(delta, other, other_first)).toEqual(result);
  }
});

test("deltas divide, and places move, as the vectors say", () => {
  for (const { delta, at, before, behind, at_after } of deltas.divide) {
    expect(divideDelta(delta, at)).toEqual([before, behind]);
    expect(transformPosition(at, delta)).toBe(at_after);
  }
});

test("no array that the vectors call not canonical is taken for a delta", () => {
  for (const { wire } of deltas.not_canonical) expect([wire, isDelta(wire)]).toEqual([wire, false]);
});

test("one change is rebased over another as the vectors say", () => {
  for (const { name, mine, other, mine_first, result, refused } of rebases.changes) {
    const run = (): Transaction => rebaseChange(mine, other, mine_first);
    if (refused === undefined) expect([name, run()]).toEqual([name, result]);
    else expect([name, codeOf(run)]).toEqual([name, refused]);
  }
});

test("transactions are carried over each other as the vectors say", () => {
  for (const { first, later, first_result, later_result, refused } of rebases.transactions) {
    const run = (): [Transaction, Transaction] => rebaseBoth(first, later);
    if (refused === undefined) expect(run()).toEqual([first_result, later_result]);
    else expect(codeOf(run)).toBe(refused);
  }
});

test("the applied changes of each script lead from its start to its final document", () => {
  for (const { start, final, submits } of scripts) {
    let document = documentOf(start);
    for (const { verdict } of submits) {
      if (verdict.changes === undefined || verdict.repeated) continue;
      const applied = document.apply(verdict.changes);
      expect(applied.changes).toEqual(verdict.changes);
      document = applied.document;
    }
    expect(plain(document)).toEqual(plain(documentOf(final)));
  }
});

test("every applied change of the scripts passes the page's own checks", () => {
  for (const { submits } of scripts) {
    for (const { verdict } of submits) {
      if (verdict.changes === undefined) continue;
      const rest = { doc: "d", epoch: 1, version: 1, client: "c", op: 1, name: "" };
      const update = { t: "update", changes: verdict.changes, ...rest };
      expect(readMessages([update])).toEqual([update]);
    }
  }
});
