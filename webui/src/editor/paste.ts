/** The clipboard: blocks with marks go out as HTML and as Markdown, and come in as either. */

import { Fragment, type Node, type ResolvedPos, Slice } from "prosemirror-model";
import type { EditorView } from "prosemirror-view";
import type { Marks, Rich, RichInsert } from "../document/types";
import { marksOf, textOf } from "../shared/rich";
import { cleanText } from "../shared/text";
import { cleanLink, setLink } from "./marks";
import { isSafeLink, richOf } from "./rich";
import { attributeOf, blockType, headingLevel, schema, tableType, typeOf } from "./schema";
import { flattened, unnamed } from "./table-nodes";
import { tabbed, tabbedSlice, tableMarkdown } from "./table-text";

/** Plain text as blocks: one a line, empty lines left out; inside code one text with its lines. */
export function parseText(text: string, $context: ResolvedPos): Slice {
  const clean = cleanText(text);
  if (clean === "") return Slice.empty;
  if ($context.depth > 0 && typeOf($context.parent) === "code") {
    return new Slice(Fragment.from(schema.text(clean)), 0, 0);
  }
  const cells = $context.depth === 4 ? tabbedSlice(clean) : null;
  if (cells !== null) return cells;
  if ($context.depth === 4)
    return new Slice(Fragment.from(schema.text(clean, $context.marks())), 0, 0);
  const lines = clean.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return Slice.empty;
  const marks = lines.length === 1 ? $context.marks() : [];
  const blocks = lines.map((line) => blockType.create(null, schema.text(line, marks)));
  return new Slice(Fragment.fromArray(blocks), 1, 1);
}

/** A part of one block as its words, several blocks as Markdown. */
export function serialiseText(slice: Slice): string {
  const nodes: Node[] = [];
  slice.content.forEach((node) => {
    nodes.push(node);
  });
  const [only] = nodes;
  if (nodes.length < 2) return only?.type === tableType ? tabbed(only) : (only?.textContent ?? "");
  return markdownOf(nodes);
}

/** Blocks as Markdown. */
export function markdownOf(nodes: readonly Node[]): string {
  const numbers: number[] = [];
  let result = "";
  let wasList = false;
  for (const node of nodes) {
    const type = typeOf(node);
    const depth = Number(attributeOf(node, "depth"));
    const isList = type === "bullet" || type === "numbered" || type === "todo";
    numbers.length = isList ? depth + 1 : 0;
    if (type === "numbered") numbers[depth] = (numbers[depth] ?? 0) + 1;
    else if (isList) numbers[depth] = 0;
    if (result !== "") result += wasList && isList ? "\n" : "\n\n";
    result += isList ? "  ".repeat(depth) : "";
    result += blockMarkdown(node, numbers[depth] ?? 1);
    wasList = isList;
  }
  return result;
}

function blockMarkdown(node: Node, number: number): string {
  const words = inlineMarkdown(richOf(node));
  switch (typeOf(node)) {
    case "heading":
      return `${"#".repeat(headingLevel(node))} ${words}`;
    case "bullet":
      return `- ${words}`;
    case "numbered":
      return `${number}. ${words}`;
    case "todo":
      return `- [${attributeOf(node, "checked") === true ? "x" : " "}] ${words}`;
    case "quote":
      return words.replace(/^/gm, "> ");
    case "code":
      return `\`\`\`${attributeOf(node, "language")}\n${node.textContent}\n\`\`\``;
    case "divider":
      return "---";
    case "table":
      return node.type === tableType ? tableMarkdown(node, inlineMarkdown) : "…";
    case "image":
      return imageMarkdown(node, words);
    default:
      return node.isTextblock ? words : "…";
  }
}

/** As the server writes it: the caption stands below. */
function imageMarkdown(node: Node, caption: string): string {
  const alt = String(node.attrs.alt ?? "").replace(/[[\]\\]/g, "\\$&");
  const image = `![${alt}](pictures/${String(node.attrs.picture)})`;
  return caption === "" ? image : `${image}\n${caption}`;
}

function inlineMarkdown(content: Rich): string {
  return content.map(runMarkdown).join("");
}

function runMarkdown(item: RichInsert): string {
  const [, before = "", words = "", behind = ""] = /^(\s*)(.*?)(\s*)$/s.exec(textOf(item)) ?? [];
  return words === "" ? before + behind : before + signed(words, marksOf(item)) + behind;
}

function signed(words: string, marks: Marks): string {
  let result = marks.code === true ? `\`${words}\`` : words;
  if (marks.strike === true) result = `~~${result}~~`;
  if (marks.italic === true) result = `*${result}*`;
  if (marks.bold === true) result = `**${result}**`;
  return typeof marks.link === "string" ? `[${result}](${marks.link})` : result;
}

/** What is put into a cell: cells of a table, or text; blocks are lines of it. */
export function fitted(slice: Slice, view: EditorView): Slice {
  const { content, openStart, openEnd } = slice;
  const only = content.firstChild;
  const isPlain = only === null || only.isText || /^(?:table|row|cell)$/.test(only.type.name);
  const isInCell = view.state.selection.$from.depth > 1;
  if (isInCell && !(isPlain && content.childCount <= 1)) return flattened(schema, slice);
  return new Slice(unnamed(content), openStart, openEnd);
}

/**
 * What the editor's own way of pasting does not do: code takes plain text, and an address that is
 * pasted over words makes them a link. True when it is done.
 */
export function handlePaste(view: EditorView, event: ClipboardEvent): boolean {
  const text = event.clipboardData?.getData("text/plain") ?? "";
  if (text === "") return false;
  const { state } = view;
  const { $from, $to, empty } = state.selection;
  const isCode = $from.depth > 0 && typeOf($from.parent) === "code";
  if (isCode) {
    const transaction = state.tr.replaceSelection(parseText(text, $from));
    view.dispatch(transaction.scrollIntoView().setMeta("paste", true).setMeta("uiEvent", "paste"));
    event.preventDefault();
    return true;
  }
  const isAddress = /^https?:\/\/\S+$/i.test(text.trim()) && isSafeLink(text.trim());
  if (!isAddress || empty || !$from.sameParent($to)) return false;
  event.preventDefault();
  return setLink(cleanLink(text))(state, (transaction) => view.dispatch(transaction), view);
}
