/**
 * Rich texts as the model has them, and as the editor has them.
 *
 * The marks that this page knows are marks of the editor's schema. All others, and embeds, which
 * are marks too, are kept in one mark `other`, so that nothing that somebody else's page wrote is
 * lost when its text is edited here.
 */

import { Fragment, Mark, type Node, type Schema } from "prosemirror-model";
import type { AttributeValue, Marks, Rich } from "../document/types";
import { marksOf, NO_MARKS, RichBuilder, textOf } from "../shared/rich";

/** Marks that are on or off. */
export const SIMPLE_MARKS = ["bold", "italic", "underline", "strike", "code"] as const;
export type SimpleMark = (typeof SIMPLE_MARKS)[number];

const SAFE_LINK = /^(?:https?:\/\/|mailto:|tel:|\/|#)/i;
const LINK_MAX = 2_000;

/** Whether a link may be shown as one, and taken from a person. */
export function isSafeLink(href: string): boolean {
  return href.length <= LINK_MAX && SAFE_LINK.test(href) && !/[\s\0]/.test(href);
}

/** The editor's marks for the model's. */
export function toMarks(schema: Schema, marks: Marks): readonly Mark[] {
  const found: Mark[] = [];
  const rest: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(marks)) {
    const type = schema.marks[name];
    const isSimple = (SIMPLE_MARKS as readonly string[]).includes(name) && value === true;
    if (type !== undefined && isSimple) found.push(type.create());
    else if (type !== undefined && name === "link" && typeof value === "string") {
      found.push(type.create({ href: value }));
    } else rest[name] = value;
  }
  if (Object.keys(rest).length > 0) found.push(schema.mark("other", { values: rest }));
  return Mark.setFrom(found);
}

/** The model's marks for the editor's. */
export function fromMarks(marks: readonly Mark[]): Marks {
  if (marks.length === 0) return NO_MARKS;
  const result: Record<string, AttributeValue> = {};
  for (const { type, attrs } of marks) {
    if (type.name === "other") Object.assign(result, attrs.values as Marks);
    else result[type.name] = type.name === "link" ? String(attrs.href) : true;
  }
  return result;
}

/** The rich text in a node of the editor. */
export function richOf(node: Node): Rich {
  const builder = new RichBuilder();
  node.forEach((child) => {
    builder.insert(child.text ?? "", fromMarks(child.marks));
  });
  return builder.finish() as Rich;
}

/** The editor's content for a rich text. */
export function toFragment(schema: Schema, content: Rich): Fragment {
  const nodes = content.map((item) => schema.text(textOf(item), toMarks(schema, marksOf(item))));
  return Fragment.fromArray(nodes);
}
