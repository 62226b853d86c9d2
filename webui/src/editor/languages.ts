/** Languages whose words are coloured in code: loaded when code is in sight, not before. */

import type { Root } from "hast";
import { common, createLowlight } from "lowlight";
import "./code.css";

const lowlight = createLowlight(common);

/** A stretch of code of one kind, in UTF-16 units. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

/** The stretches of this code; none when the language is not known. */
export function spansOf(code: string, language: string): readonly Span[] {
  if (!lowlight.registered(language)) return [];
  const spans: Span[] = [];
  collect(lowlight.highlight(language, code), 0, spans);
  return spans;
}

/** Walks the tree of the highlighter; gives the place behind it. */
function collect(tree: Root | Root["children"][number], start: number, spans: Span[]): number {
  if (tree.type === "text") return start + tree.value.length;
  if (tree.type !== "root" && tree.type !== "element") return start;
  let at = start;
  for (const child of tree.children) at = collect(child, at, spans);
  if (tree.type === "element") {
    const { className } = tree.properties;
    const kind = Array.isArray(className) ? className.join(" ") : "";
    if (kind !== "" && at > start) spans.push({ from: start, to: at, kind });
  }
  return at;
}
