/** Tables in the editor: rows of cells with one line of text each, to and from a rich text. */

import {
  type Attrs,
  Fragment,
  type Node,
  type NodeSpec,
  type NodeType,
  type Schema,
  Slice,
} from "prosemirror-model";
import { EMBED, marksOf, type Rich, RichBuilder, type RichInsert, textOf } from "../shared/rich";
import { type Grid, tableOf } from "../shared/table";
import { richOf, toFragment } from "./rich";

/** The nodes of tables for the schema; the table itself has the attributes of a block. */
export function tableSpecs(attrs: Record<string, { default: unknown }>): Record<string, NodeSpec> {
  return {
    table: {
      content: "row+",
      tableRole: "table",
      isolating: true,
      draggable: false,
      attrs: { ...attrs, type: { default: "table" } },
      toDOM: () => ["table", ["tbody", 0]],
    },
    row: {
      content: "cell+",
      tableRole: "row",
      attrs: { row: { default: "" } },
      toDOM: () => ["tr", 0],
    },
    cell: {
      content: "line",
      tableRole: "cell",
      isolating: true,
      attrs: {
        /** The key of its column. */
        column: { default: "" },
        isHead: { default: false },
        colspan: { default: 1 },
        rowspan: { default: 1 },
        colwidth: { default: null },
      },
      toDOM: ({ attrs: { isHead } }) => (isHead ? ["th", { scope: "col" }, 0] : ["td", 0]),
    },
    /** The text of a cell. */
    line: {
      content: "text*",
      marks: "_",
      whitespace: "pre",
      toDOM: () => ["div", 0],
    },
  };
}

/** Whether the first row has the names of the columns. */
export function hasHead({ header }: Attrs): boolean {
  return header !== false;
}

/** The rows of a table. */
export function rowNodes(schema: Schema, { columns, rows }: Grid, isHeaded: boolean): Node[] {
  const { row, cell, line } = schema.nodes as Record<"row" | "cell" | "line", NodeType>;
  return rows.map(({ id, cells }, at) => {
    const isHead = isHeaded && at === 0;
    const nodes = cells.map((content, place) => {
      const text = line.create(null, toFragment(schema, content));
      return cell.create({ column: columns[place], isHead }, text);
    });
    return row.create({ row: id }, nodes);
  });
}

/** The table that the node shows. */
export function gridIn(node: Node): Grid {
  const first = node.firstChild;
  const columns = first === null ? [] : first.children.map((cell) => String(cell.attrs.column));
  const rows = node.children.map((row) => ({
    id: String(row.attrs.row),
    cells: row.children.map((cell) =>
      cell.firstChild === null ? [] : unmarked(richOf(cell.firstChild)),
    ),
  }));
  return { columns, rows };
}

/** The text that is the table of the node. */
export function tableText(node: Node): Rich {
  return tableOf(gridIn(node));
}

/** A cell's text without what would be read as the start of a cell or the end of a row. */
function unmarked(content: Rich): Rich {
  const isMarker = (run: RichInsert): boolean =>
    /^(?:cell|row)-/.test(String(marksOf(run).embed ?? ""));
  if (!content.some(isMarker)) return content;
  const builder = new RichBuilder();
  for (const run of content) {
    if (isMarker(run)) builder.insert(textOf(run).replaceAll(EMBED, ""));
    else builder.put(run);
  }
  return builder.finish() as Rich;
}

/** Where the text of a cell begins, counted from the start of the table's node. */
export function cellStart(node: Node, row: number, column: number): number {
  let start = 1;
  for (let at = 0; at < row; at += 1) start += node.child(at).nodeSize;
  start += 1;
  for (let at = 0; at < column; at += 1) start += node.child(row).child(at).nodeSize;
  return start + 2;
}

/** Texts of a block: of a table those of its cells; `start` is counted from the block's own. */
export interface LineIn {
  readonly text: string;
  readonly start: number;
}

/** Every stretch of text of a block that goes on without a border. */
export function linesIn(node: Node): LineIn[] {
  if (node.isTextblock) return [{ text: node.textContent, start: 1 }];
  const lines: LineIn[] = [];
  node.descendants((inner, position) => {
    if (inner.isTextblock) lines.push({ text: inner.textContent, start: position + 2 });
    return !inner.isTextblock;
  });
  return lines;
}

/** Cells without the names of their rows and columns: they are of those where they are put. */
export function unnamed(content: Fragment): Fragment {
  const nodes: Node[] = [];
  content.forEach((node) => {
    const { name } = node.type;
    if (name === "cell") {
      nodes.push(node.type.create({ ...node.attrs, column: "" }, node.content));
    } else if (name === "row") {
      nodes.push(node.type.create({ row: "" }, unnamed(node.content)));
    } else {
      nodes.push(name === "table" ? node.copy(unnamed(node.content)) : node);
    }
  });
  return Fragment.fromArray(nodes);
}

/** A table in a table, or blocks in a cell, are its text. */
export function flattened(schema: Schema, slice: Slice): Slice {
  const content: Node[] = [];
  slice.content.descendants((node) => {
    if (!node.isTextblock) return true;
    if (content.length > 0) content.push(schema.text("\n"));
    node.forEach((child) => {
      content.push(child);
    });
    return false;
  });
  return new Slice(Fragment.fromArray(content), 0, 0);
}
