/** What the keys do with blocks. */

import {
  chainCommands,
  createParagraphNear,
  deleteSelection,
  joinBackward,
  joinForward,
  selectAll,
  splitBlockAs,
} from "prosemirror-commands";
import { undoInputRule } from "prosemirror-inputrules";
import type { Node } from "prosemirror-model";
import { type Command, type EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { wantPicture } from "../pictures/wanted";
import { editorWords } from "../words/editor";
import { tableWords } from "../words/table";
import { behind, downFromLast } from "./below";
import { caretKeys } from "./caret-keys";
import { indentCode, lineInCode, outdentCode } from "./code-keys";
import { whenFocused } from "./focused";
import { markKeys, toggle } from "./marks";
import type { SimpleMark } from "./rich";
import { attributeOf, awayType, type BlockType, blockType, typeOf } from "./schema";
import {
  downFromTable,
  insertTable,
  intoTable,
  leaveTable,
  lineInCell,
  nextCell,
  previousCell,
  stayInCell,
} from "./table-commands";

const DEPTH_MAX = 8;
const LISTS: ReadonlySet<BlockType> = new Set(["bullet", "numbered", "todo"]);

interface Selected {
  readonly node: Node;
  readonly position: number;
}

function selectedBlocks(state: EditorState): Selected[] {
  const found: Selected[] = [];
  const { from, to } = state.selection;
  state.doc.nodesBetween(from, to, (node, position) => {
    if (node.type === blockType) found.push({ node, position });
    return false;
  });
  return found;
}

/** The attributes of a block of this type that was `node` before; the id stays. */
function attributesFor(node: Node, type: BlockType, more: Record<string, unknown> = {}) {
  const depth = LISTS.has(type) && LISTS.has(typeOf(node)) ? node.attrs.depth : null;
  const none = { level: null, checked: null, language: null, depth };
  const { id, more: foreign } = node.attrs as { id: string | null; more: unknown };
  return { ...none, id, type, more: foreign, ...more };
}

/** Turns a block into another type. */
export function turnInto(
  transaction: Transaction,
  position: number,
  type: BlockType,
  more: Record<string, unknown> = {},
): Transaction {
  const node = transaction.doc.nodeAt(position);
  if (node === null) return transaction;
  if (type === "code") transaction.removeMark(position, position + node.nodeSize);
  return transaction.setNodeMarkup(position, null, attributesFor(node, type, more));
}

/**
 * Turns all selected blocks into a type; a toggle turns them into paragraphs when they are of it
 * already.
 */
export function setType(
  type: BlockType,
  more: Record<string, unknown> = {},
  isToggle = true,
): Command {
  return (state, dispatch) => {
    const blocks = selectedBlocks(state);
    const isIt = ({ node }: Selected): boolean =>
      typeOf(node) === type &&
      Object.entries(more).every(([name, value]) => attributeOf(node, name) === value);
    const isAll = isToggle && blocks.every(isIt);
    if (dispatch === undefined) return true;
    const transaction = state.tr;
    for (const { position } of blocks) {
      if (isAll) turnInto(transaction, position, "paragraph");
      else turnInto(transaction, position, type, more);
    }
    dispatch(transaction.scrollIntoView());
    return true;
  };
}

function insertText(text: string): Command {
  return (state, dispatch) => {
    dispatch?.(state.tr.insertText(text).scrollIntoView());
    return true;
  };
}

/** Enter in an empty list item, quote or heading ends it. */
const leaveEmpty: Command = (state, dispatch) => {
  const { $from, empty } = state.selection;
  const node = $from.parent;
  if (!empty || node.type !== blockType || node.content.size > 0) return false;
  if (["paragraph", "code", "image"].includes(typeOf(node))) return false;
  return lift(state, dispatch);
};

/** One step back: out of the indentation, then out of the type. */
const lift: Command = (state, dispatch) => {
  const { $from } = state.selection;
  const position = $from.before(1);
  const depth = Number(attributeOf($from.parent, "depth"));
  if (LISTS.has(typeOf($from.parent)) && depth > 0) {
    dispatch?.(state.tr.setNodeAttribute(position, "depth", depth - 1));
  } else {
    dispatch?.(turnInto(state.tr, position, "paragraph"));
  }
  return true;
};

/** Enter behind the signs that begin code makes the paragraph code, as a space does. */
const beginCode: Command = (state, dispatch) => {
  const { $from, empty } = state.selection;
  const node = $from.parent;
  const found = /^```([\w+#-]{0,40})$/.exec(node.textContent);
  if (!empty || found === null || $from.depth !== 1 || typeOf(node) !== "paragraph") return false;
  if ($from.parentOffset !== node.content.size) return false;
  const cleared = state.tr.delete($from.start(), $from.pos);
  dispatch?.(turnInto(cleared, $from.before(1), "code", { language: found[1] || null }));
  return true;
};

/** Enter on the last, empty line of a code block goes on below it. */
const leaveCode: Command = (state, dispatch) => {
  const { $from, empty } = state.selection;
  const node = $from.parent;
  if (!empty || typeOf(node) !== "code" || $from.parentOffset !== node.content.size) return false;
  if (!node.textContent.endsWith("\n")) return false;
  const end = $from.pos;
  const transaction = state.tr.delete(end - 1, end);
  dispatch?.(behind(transaction, transaction.mapping.map($from.after(1))).scrollIntoView());
  return true;
};

/** Puts a line across in the place of an empty block, or behind one that has words. */
const insertDivider: Command = (state, dispatch) => {
  const { $from } = state.selection;
  if ($from.depth !== 1) return false;
  if (dispatch === undefined) return true;
  const transaction = state.tr;
  const isEmpty = $from.parent.content.size === 0;
  const at = isEmpty ? $from.before(1) : $from.after(1);
  if (!isEmpty) transaction.insert(at, blockType.create());
  dispatch(drawDivider(transaction, at).scrollIntoView());
  return true;
};

/** Makes a block without words a line across; the caret goes on below it. */
export function drawDivider(transaction: Transaction, position: number): Transaction {
  turnInto(transaction, position, "divider");
  const below = transaction.doc.resolve(position + 1).after(1);
  if (below === transaction.doc.content.size) return behind(transaction, below);
  return transaction.setSelection(TextSelection.near(transaction.doc.resolve(below)));
}

const leaveDivider: Command = (state, dispatch) => {
  const { $from } = state.selection;
  if (typeOf($from.parent) !== "divider") return false;
  dispatch?.(behind(state.tr, $from.after(1)).scrollIntoView());
  return true;
};

const split = splitBlockAs((node, atEnd) => {
  const type = typeOf(node);
  if (type === "image" || (type === "heading" && atEnd)) {
    return { type: blockType, attrs: { type: "paragraph" } };
  }
  const attrs = { ...node.attrs, id: null, checked: type === "todo" ? false : null };
  return { type: blockType, attrs };
});

const atStart =
  (command: Command): Command =>
  (state, dispatch, view) => {
    const { $from, empty } = state.selection;
    if (!empty || $from.parentOffset > 0 || typeOf($from.parent) === "paragraph") return false;
    return command(state, dispatch, view);
  };

const indent =
  (by: number): Command =>
  (state, dispatch) => {
    const blocks = selectedBlocks(state).filter(({ node }) => LISTS.has(typeOf(node)));
    if (blocks.length === 0) return false;
    const transaction = state.tr;
    for (const { node, position } of blocks) {
      const depth = Math.min(DEPTH_MAX, Math.max(0, Number(attributeOf(node, "depth")) + by));
      transaction.setNodeAttribute(position, "depth", depth);
    }
    if (transaction.docChanged) dispatch?.(transaction);
    return true;
  };

const toggleTodo: Command = (state, dispatch) => {
  const blocks = selectedBlocks(state).filter(({ node }) => typeOf(node) === "todo");
  if (blocks.length === 0) return false;
  const transaction = state.tr;
  for (const { node, position } of blocks) {
    transaction.setNodeAttribute(position, "checked", attributeOf(node, "checked") !== true);
  }
  dispatch?.(transaction);
  return true;
};

/** Escape leaves the editor, so that Tab moves on: lists take Tab for themselves. */
const leaveEditor: Command = (_state, _dispatch, view) => {
  view?.dom.blur();
  return true;
};

const inTableBack = chainCommands(stayInCell("start"), intoTable(-1));
const inTableOn = chainCommands(stayInCell("end"), intoTable(1));

/** Which key does what; the rest is as in any text. */
export const keys = {
  Enter: chainCommands(
    lineInCell,
    beginCode,
    leaveCode,
    lineInCode,
    leaveDivider,
    leaveEmpty,
    createParagraphNear,
    split,
  ),
  "Shift-Enter": insertText("\n"),
  "Mod-Enter": chainCommands(leaveTable, toggleTodo),
  Backspace: chainCommands(
    undoInputRule,
    deleteSelection,
    inTableBack,
    atStart(lift),
    joinBackward,
  ),
  "Mod-Backspace": chainCommands(deleteSelection, inTableBack, atStart(lift), joinBackward),
  Delete: chainCommands(deleteSelection, inTableOn, joinForward),
  "Mod-Delete": chainCommands(deleteSelection, inTableOn, joinForward),
  Tab: chainCommands(nextCell, indentCode, indent(1)),
  "Shift-Tab": chainCommands(previousCell, outdentCode, indent(-1)),
  ArrowDown: chainCommands(downFromTable, downFromLast),
  "Mod-a": selectAll,
  "Mod-Alt-0": setType("paragraph"),
  "Mod-Alt-1": setType("heading", { level: 1 }),
  "Mod-Alt-2": setType("heading", { level: 2 }),
  "Mod-Alt-3": setType("heading", { level: 3 }),
  "Mod-Alt-4": setType("todo", { checked: false }),
  "Mod-Alt-5": setType("bullet"),
  "Mod-Alt-6": setType("numbered"),
  "Alt-ArrowUp": whenFocused(({ moveBlocks }) => moveBlocks(-1)),
  "Alt-ArrowDown": whenFocused(({ moveBlocks }) => moveBlocks(1)),
  ...markKeys,
  ...caretKeys,
  Escape: leaveEditor,
} satisfies Record<string, Command>;

/** The keys of the text; what each does is said in key-help.ts. */
export type EditorKey = keyof typeof keys | "Mod-k" | "Mod-z" | "Mod-Shift-z" | "Mod-y";

/** What a block can be turned into. */
const CHOICES = [
  "paragraph",
  "heading-1",
  "heading-2",
  "heading-3",
  "bullet",
  "numbered",
  "todo",
  "quote",
  "code",
  "table",
  "divider",
] as const;

export interface Choice {
  readonly value: string;
  readonly label: string;
}

/** What the toolbar offers to turn blocks into. */
export function choices(): readonly Choice[] {
  return CHOICES.map((value) => ({ value, label: labelOf(value) }));
}

function labelOf(choice: (typeof CHOICES)[number]): string {
  switch (choice) {
    case "heading-1":
    case "heading-2":
    case "heading-3":
      return editorWords.heading(Number(choice.at(-1)));
    case "code":
      return editorWords.codeBlock;
    case "paragraph":
      return editorWords.paragraph;
    case "bullet":
      return editorWords.bullet;
    case "numbered":
      return editorWords.numbered;
    case "todo":
      return editorWords.todo;
    case "quote":
      return editorWords.quote;
    case "table":
      return tableWords.table;
    case "divider":
      return editorWords.divider;
  }
}

const more: Record<string, Record<string, unknown>> = {
  "heading-1": { level: 1 },
  "heading-2": { level: 2 },
  "heading-3": { level: 3 },
  todo: { checked: false },
};

/** The toolbar choice that describes a block. */
export function choiceOf(node: Node | null): string {
  if (node === null || node.type === awayType) return "paragraph";
  const type = typeOf(node);
  return type === "heading" ? `heading-${attributeOf(node, "level")}` : type;
}

/** The command behind a toolbar choice. */
export function choiceCommand(choice: string): Command | null {
  const known = CHOICES.find((value) => value === choice);
  if (known === undefined) return null;
  if (known === "table") return insertTable;
  if (known === "divider") return insertDivider;
  const type = known.startsWith("heading") ? "heading" : known;
  return setType(type as BlockType, more[choice] ?? {}, false);
}

const choosePicture: Command = (_state, _dispatch, view) => {
  if (view !== undefined) wantPicture(view);
  return true;
};

export type Action = "undo" | "redo" | "indent" | "outdent" | "picture" | SimpleMark;

/** What the toolbar's buttons do; what is taken back is with the editor's history. */
export const actions: Record<Exclude<Action, "undo" | "redo">, Command> = {
  indent: indent(1),
  outdent: indent(-1),
  picture: choosePicture,
  bold: toggle("bold"),
  italic: toggle("italic"),
  underline: toggle("underline"),
  strike: toggle("strike"),
  code: toggle("code"),
};
