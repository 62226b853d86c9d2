/** What can be told from the state of the editor alone. */

import type { Node } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import { awayType } from "./schema";

/** The selected blocks whose text is not here. */
export function missingIn({ doc, selection }: EditorState): string[] {
  const missing: string[] = [];
  doc.nodesBetween(selection.from, selection.to, (node) => {
    if (node.type === awayType) missing.push(String(node.attrs.id));
    return false;
  });
  return missing;
}

/** Whether there is nothing but one empty paragraph. */
export function isBlank(doc: Node): boolean {
  const only = doc.firstChild;
  if (doc.childCount !== 1 || only === null || only.content.size > 0) return false;
  return only.attrs.type === "paragraph" || only.attrs.type === null;
}
