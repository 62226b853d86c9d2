/** Random documents and edits for property tests. */

import fc from "fast-check";
import type { Rich, RichDelta, ShownBlock, Verb } from "../src/document/types";
import { canonicalRich, richLength } from "../src/shared/rich";
import { blocksOf } from "./document-double";

const marks = fc.constantFrom<Readonly<Record<string, string | number | boolean>>>(
  {},
  { bold: true },
  { bold: true, italic: true },
  { link: "https://example.org/" },
  { tint: "red" },
);
const letters = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", " "), maxLength: 6 });

export const richTexts: fc.Arbitrary<Rich> = fc
  .array(fc.tuple(letters, marks), { maxLength: 4 })
  .map((runs) => canonicalRich(runs) as Rich);

export const documents: fc.Arbitrary<ShownBlock[]> = fc
  .array(richTexts, { minLength: 1, maxLength: 6 })
  .map((texts) => blocksOf(...texts));

/** Numbers that choose an edit, whatever the document is when it is made. */
export interface Choice {
  readonly kind: number;
  readonly block: number;
  readonly at: number;
  readonly count: number;
  readonly text: string;
  readonly marks: Readonly<Record<string, string | number | boolean>>;
}

export const choices: fc.Arbitrary<Choice> = fc.record({
  kind: fc.nat(99),
  block: fc.nat(50),
  at: fc.nat(50),
  count: fc.nat(3),
  text: fc.string({ unit: fc.constantFrom("x", "y", "ü", "🙂"), minLength: 1, maxLength: 3 }),
  marks,
});

/** The edit that a choice means for these blocks; `fresh` names new ones. */
export function verbsOf(choice: Choice, blocks: readonly ShownBlock[], fresh: string): Verb[] {
  const pick = (index: number): ShownBlock | undefined => blocks[index % blocks.length];
  const { kind, count, text } = choice;
  const one = pick(choice.block);
  const other = pick(choice.at);
  if (one === undefined || other === undefined) {
    return [["insert", "", [{ id: fresh, attributes: {}, content: [text] }]]];
  }
  const length = richLength(one.content ?? []);
  const at = choice.at % (length + 1);
  const edit = (...items: RichDelta): Verb[] => {
    const delta = canonicalRich([at, ...items]);
    return delta.length > 0 ? [["edit", one.id, delta]] : [];
  };
  const rest = Math.min(count, length - at);
  if (kind < 35) return edit([text, choice.marks]);
  if (kind < 50) return edit(-rest);
  if (kind < 60) return edit([rest, { bold: count % 2 === 0 ? true : null, tint: "blue" }]);
  if (kind < 68) return [["split", one.id, at, fresh, { type: "paragraph" }]];
  if (kind < 76) return one === other ? [] : [["join", one.id, other.id]];
  if (kind < 82) {
    const content = canonicalRich([[text, choice.marks]]) as Rich;
    return [["insert", one.id, [{ id: fresh, attributes: { type: "bullet" }, content }]]];
  }
  if (kind < 88) return [["remove", one === other ? [one.id] : [one.id, other.id]]];
  if (kind < 93) return [["set", one.id, { type: "heading", level: 1 + count, mood: "calm" }]];
  return one === other ? [] : [["move", [one.id], other.id]];
}
