/** What others take from the clipboard as plain text: words, cells with tabs, or Markdown. */

import type { Node, Slice } from "prosemirror-model";
import type { Marks, Rich, RichInsert } from "../document/types";
import { marksOf, textOf } from "../shared/rich";
import { richOf } from "./rich";
import { attributeOf, headingLevel, tableType, typeOf } from "./schema";
import { gridIn, hasHead } from "./table-nodes";

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

/** The table as Markdown has it; `inline` writes the text of a cell. */
function tableMarkdown(table: Node, inline: (content: Rich) => string): string {
  const { columns, rows } = gridIn(table);
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const texts = rows.map(({ cells }) =>
    cells.map((cell) => inline(cell).replaceAll("|", "\\|").replaceAll("\n", "<br>")),
  );
  const names = hasHead(table.attrs) ? texts.shift() : undefined;
  const lines = [line(names ?? columns.map(() => " ")), line(columns.map(() => "---"))];
  return [...lines, ...texts.map(line)].join("\n");
}

/** A line a row, tabs between the cells, as spreadsheets give and take it. */
function tabbed(table: Node): string {
  const rows = table.children.map((row) =>
    row.children.map((cell) => cell.textContent.replace(/[\t\n]+/g, " ")).join("\t"),
  );
  return rows.join("\n");
}
