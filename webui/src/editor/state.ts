/** What can be told from the state of the editor alone. */

import type { Node } from "prosemirror-model";
import type { EditorState } from "prosemirror-state";
import { choiceOf } from "./commands";
import { activeMarks, linkAt } from "./marks";
import type { SimpleMark } from "./rich";
import { attributeOf, awayType, blockAt } from "./schema";

/** What the selection stands in: for the toolbar. */
export interface Surroundings {
  /** What `choiceOf` says of the block. */
  readonly block: string;
  readonly marks: readonly SimpleMark[];
  /** The address of the link at the caret. */
  readonly link: string | null;
  /** In which language the code is; empty: in none. */
  readonly language: string;
}

export function surroundingsOf(state: EditorState): Surroundings {
  const node = blockAt(state.selection.$head);
  const block = choiceOf(node);
  const language = node !== null && block === "code" ? String(attributeOf(node, "language")) : "";
  return { block, marks: activeMarks(state), link: linkAt(state)?.href ?? null, language };
}

/** The indices of the blocks in which what is selected begins and ends. */
export function endsOf({ selection }: EditorState): readonly [anchor: number, head: number] {
  return [selection.$anchor.index(0), selection.$head.index(0)];
}

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
