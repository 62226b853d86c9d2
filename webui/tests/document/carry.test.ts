/** Own steps and others', each carried over the other list: both ways lead to one document (K1). */

import { expect, test } from "vitest";
import { Blocks } from "../../src/document/blocks";
import { crossed, type Own, type OwnVerb } from "../../src/document/carry";
import { blockOf, type Doc, type Step, Work } from "../../src/document/doc";
import { plainText } from "../../src/shared/rich";

function docOf(texts: Readonly<Record<string, string>>): Doc {
  const all = Object.entries(texts).map(([id, text]) => [id, blockOf(id, {}, [text])] as const);
  return { title: "", order: Object.keys(texts), blocks: Blocks.of(new Map(all)) };
}

function behind(doc: Doc, ...lists: readonly (readonly (Step | OwnVerb)[])[]): unknown {
  const work = new Work(doc, new Map());
  for (const step of lists.flat()) expect(work.apply(step), JSON.stringify(step)).toBe(true);
  return work.doc.order.map((id) => [id, plainText(work.content(id) ?? [])]);
}

test("a text that was split off and joined again goes along when others join the block, behind a text of one's own", () => {
  const doc = docOf({ into: "xyz", block: "abcde", last: "TT" });
  const verbs: OwnVerb[] = [
    ["merge", "last", "into", 3, ["TT"]],
    ["split", "block", 3, "fresh", {}],
    ["edit", "fresh", ["s", -2]],
    ["merge", "fresh", "block", 3, ["s"]],
    ["edit", "block", [-1]],
  ];
  const own = verbs.map((verb): Own => ({ verb, call: null, hop: "", parcel: 0, edits: 1 }));
  const others: Step[] = [["merge", "block", "into", 3, ["abcde"]]];
  const both = crossed(own, others);
  expect(both.dropped).toEqual([]);
  const mine = both.own.map(({ verb }) => verb);
  expect(behind(doc, others, mine)).toEqual([["into", "xyzbcsTT"]]);
  expect(behind(doc, verbs, both.others)).toEqual([["into", "xyzbcsTT"]]);
});
