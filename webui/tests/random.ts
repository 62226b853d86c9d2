/** Random documents and edits for property tests. */

import fc from "fast-check";
import type { Change } from "../src/model/changes";
import type { Block } from "../src/model/document";
import { DocumentValue } from "../src/model/document";
import { codePointLength } from "../src/shared/text";

export const letters = fc.string({ unit: fc.constantFrom("a", "b", "é", "😀", " "), maxLength: 6 });

export const documents = fc.array(letters, { minLength: 1, maxLength: 5 }).map(
  (texts) =>
    new DocumentValue(
      "Title",
      texts.map((text, place) => ({ id: `b${place}`, attributes: { kind: "paragraph" }, text })),
    ),
);

/** Numbers that choose an edit, whatever the document is when it is made. */
export interface Choice {
  readonly kind: number;
  readonly block: number;
  readonly at: number;
  readonly count: number;
  readonly text: string;
}

export const choices: fc.Arbitrary<Choice> = fc.record({
  kind: fc.nat(99),
  block: fc.nat(50),
  at: fc.nat(50),
  count: fc.nat(3),
  text: fc.string({ unit: fc.constantFrom("x", "y", "ü", "🙂"), minLength: 1, maxLength: 3 }),
});

/** The edit that a choice means for this document; `fresh` names new blocks. */
export function editOf(choice: Choice, document: DocumentValue, fresh: string): Change[] {
  const { blocks } = document;
  const pick = (index: number): Block | undefined => blocks[index % Math.max(1, blocks.length)];
  const block = pick(choice.block);
  const other = pick(choice.at);
  if (block === undefined) return [["insert", fresh, null, { kind: "paragraph" }, choice.text]];
  const length = codePointLength(block.text);
  const at = choice.at % (length + 1);
  const head = at > 0 ? [at] : [];
  if (choice.kind < 45) return [["text", block.id, [...head, choice.text]]];
  if (choice.kind < 60) {
    const count = Math.min(choice.count, length - at);
    return count > 0 ? [["text", block.id, [...head, -count]]] : [];
  }
  if (choice.kind < 68) return [["split", block.id, at, fresh, { kind: "paragraph" }]];
  if (choice.kind < 76) {
    const into = document.previous(block.id);
    if (into === null) return [];
    const offset = codePointLength(document.get(into)?.text ?? "");
    return [["join", block.id, into, offset, into]];
  }
  if (choice.kind < 82) {
    return [["insert", fresh, block.id, { kind: "bullet", depth: 0 }, choice.text]];
  }
  if (choice.kind < 88) return [["delete", block.id, document.previous(block.id)]];
  if (choice.kind < 93) return [["set", block.id, { kind: "heading", level: 1 + choice.count }]];
  if (choice.kind < 95) return [["title", choice.text]];
  if (other === undefined || other.id === block.id) return [];
  return [["move", block.id, other.id, document.previous(block.id)]];
}

/** The document as plain values, for comparison. */
export function plain(document: DocumentValue): unknown {
  return { title: document.title, blocks: document.blocks.map((block) => ({ ...block })) };
}
