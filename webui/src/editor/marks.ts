/** Marks: switched on and off by keys and buttons, and links. */

import { toggleMark } from "prosemirror-commands";
import type { Mark, MarkType } from "prosemirror-model";
import { type Command, type EditorState, TextSelection } from "prosemirror-state";
import { isSafeLink, SIMPLE_MARKS, type SimpleMark } from "./rich";
import { schema, typeOf } from "./schema";

/** The mark of the schema with this name. */
export function markType(name: SimpleMark | "link" | "other"): MarkType {
  const type = schema.marks[name];
  if (type === undefined) throw new Error(`the schema has no mark ${name}`);
  return type;
}

/** Whether the selection touches anything that may be marked: code blocks have plain text. */
function isMarkable(state: EditorState): boolean {
  const { $from, $to } = state.selection;
  if ($from.sameParent($to)) return $from.depth > 0 && typeOf($from.parent) !== "code";
  return true;
}

/** Switches a mark of the selected text, or of what is typed next. */
export function toggle(name: SimpleMark): Command {
  const command = toggleMark(markType(name), null, { removeWhenPresent: false });
  return (state, dispatch, view) => isMarkable(state) && command(state, dispatch, view);
}

/** The simple marks that are on at the selection, for the toolbar. */
export function activeMarks(state: EditorState): readonly SimpleMark[] {
  const { empty, from, to, $from } = state.selection;
  const has = (name: SimpleMark): boolean => {
    const type = markType(name);
    if (empty) return type.isInSet(state.storedMarks ?? $from.marks()) !== undefined;
    return state.doc.rangeHasMark(from, to, type);
  };
  return SIMPLE_MARKS.filter(has);
}

/** A link and where it is. */
export interface LinkPlace {
  readonly href: string;
  readonly from: number;
  readonly to: number;
}

/** The link in or at which the selection begins; null when there is none. */
export function linkAt(state: EditorState): LinkPlace | null {
  const { $from } = state.selection;
  const start = $from.start();
  let at = start;
  let found: LinkPlace | null = null;
  $from.parent.forEach((child) => {
    const end = at + child.nodeSize;
    const link = markType("link").isInSet(child.marks);
    if (link !== undefined && at <= $from.pos && $from.pos <= end) {
      const [from, to] = spread(state, link, at, end);
      if (found === null || $from.pos > found.from) found = { href: link.attrs.href, from, to };
    }
    at = end;
  });
  return found;
}

/** The neighbouring texts with the same link belong to it. */
function spread(state: EditorState, link: Mark, from: number, to: number): [number, number] {
  const has = (position: number): boolean =>
    state.doc.rangeHasMark(position, position + 1, link.type) &&
    link.isInSet(state.doc.resolve(position).nodeAfter?.marks ?? []);
  const { $from } = state.selection;
  let start = from;
  let end = to;
  while (start > $from.start() && has(start - 1)) start -= 1;
  while (end < $from.end() && has(end)) end += 1;
  return [start, end];
}

/** Makes the selected text, or the link at the caret, this link; null takes it away. */
export function setLink(href: string | null): Command {
  return (state, dispatch) => {
    if (!isMarkable(state) || (href !== null && !isSafeLink(href))) return false;
    const place = state.selection.empty ? linkAt(state) : null;
    const { from, to } = place ?? state.selection;
    const transaction = state.tr;
    if (from < to) {
      transaction.removeMark(from, to, markType("link"));
      if (href !== null) transaction.addMark(from, to, markType("link").create({ href }));
    } else if (href !== null) {
      const link = markType("link").create({ href });
      transaction.insert(from, schema.text(href, [link]));
      transaction.setSelection(TextSelection.create(transaction.doc, from + href.length));
    }
    dispatch?.(transaction.scrollIntoView());
    return true;
  };
}

/** What a person has written as a link, as one that may travel; null when it is none. */
export function cleanLink(text: string): string | null {
  const href = text.trim();
  if (isSafeLink(href)) return href;
  if (/^[^\s@/:]+@[^\s@/:]+\.[^\s@/:]+$/.test(href)) return `mailto:${href}`;
  const guess = `https://${href}`;
  return /^[^\s:/?#]+\.[^\s:/?#]+/.test(href) && isSafeLink(guess) ? guess : null;
}

/** The keys of marks. */
export const markKeys = {
  "Mod-b": toggle("bold"),
  "Mod-i": toggle("italic"),
  "Mod-u": toggle("underline"),
  "Mod-e": toggle("code"),
  "Mod-Shift-x": toggle("strike"),
} satisfies Record<string, Command>;

/** A click with Control or Command on a link follows it, in a tab of its own. */
export function openLink(event: MouseEvent): boolean {
  if (!event.ctrlKey && !event.metaKey) return false;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  const href = link?.getAttribute("href") ?? "";
  if (!isSafeLink(href)) return false;
  window.open(href, "_blank", "noopener,noreferrer");
  return true;
}
