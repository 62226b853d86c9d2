/** The editor's document, a flat list of blocks with rich text, to and from the model. */

import {
  type MarkSpec,
  type Node,
  type NodeType,
  type ResolvedPos,
  Schema,
} from "prosemirror-model";
import type { Attributes, AttributeValue, Rich, ShownBlock } from "../document/types";
import { richLength } from "../shared/rich";
import { gridOf } from "../shared/table";
import { agree } from "./agreed";
import { isSafeLink, richOf, toFragment } from "./rich";
import { hasHead, rowNodes, tableSpecs, tableText } from "./table-nodes";

export const TYPES = [
  "paragraph",
  "heading",
  "bullet",
  "numbered",
  "todo",
  "quote",
  "code",
  "divider",
  "table",
  "image",
] as const;
export type BlockType = (typeof TYPES)[number];

/** The attributes that this page knows, with their defaults. */
const DEFAULTS: Readonly<Record<string, AttributeValue>> = {
  type: "paragraph",
  level: 1,
  depth: 0,
  checked: false,
  language: "",
  /** Of a table: whether its first row names the columns. */
  header: true,
  picture: "",
  width: 0,
  height: 0,
  alt: "",
};
const KNOWN = Object.keys(DEFAULTS);

const attrs = {
  id: { default: null },
  type: { default: "paragraph" },
  level: { default: null },
  depth: { default: null },
  checked: { default: null },
  language: { default: null },
  header: { default: null },
  picture: { default: null },
  width: { default: null },
  height: { default: null },
  alt: { default: null },
  /** Attributes that other pages know. */
  more: { default: null },
};

const simple = (tag: string, more: Partial<MarkSpec> = {}): MarkSpec => ({
  toDOM: () => [tag, 0],
  ...more,
});

export const schema = new Schema({
  nodes: {
    doc: { content: "(block | away | table)+" },
    block: {
      content: "text*",
      marks: "_",
      whitespace: "pre",
      defining: true,
      attrs,
      // Only for the clipboard: on the page a block is drawn by BlockView. The id stays behind, so
      // that a pasted copy is a new block.
      toDOM: (node) => clipboardElement(node),
    },
    /** A block whose text is not here: only its place, its attributes and its length. */
    away: {
      atom: true,
      selectable: true,
      draggable: false,
      attrs: { ...attrs, length: { default: 0 } },
      toDOM: () => ["p", "…"],
    },
    ...tableSpecs(attrs),
    text: {},
  },
  marks: {
    link: {
      attrs: { href: {} },
      inclusive: false,
      toDOM: (mark) => {
        const href = String(mark.attrs.href);
        if (!isSafeLink(href)) return ["span", { class: "bad-link" }, 0];
        return ["a", { href, target: "_blank", rel: "noopener noreferrer nofollow" }, 0];
      },
    },
    bold: simple("strong"),
    italic: simple("em"),
    underline: simple("u"),
    strike: simple("s"),
    code: simple("code", { inclusive: false }),
    other: {
      attrs: { values: {} },
      inclusive: false,
      toDOM: (mark) => ["span", "embed" in mark.attrs.values ? { class: "embed" } : {}, 0],
    },
  },
});

export const blockType = nodeType("block");
export const awayType = nodeType("away");
export const tableType = nodeType("table");

function nodeType(name: string): NodeType {
  const type = schema.nodes[name];
  if (type === undefined) throw new Error(`the schema has no ${name}`);
  return type;
}

type Element = readonly [string, ...unknown[]];

function clipboardElement(node: Node): [string, ...unknown[]] {
  const data: Record<string, string> = { "data-type": typeOf(node) };
  for (const name of KNOWN.slice(1)) {
    if (node.attrs[name] !== null) data[`data-${name}`] = String(node.attrs[name]);
  }
  switch (typeOf(node)) {
    case "heading":
      return [`h${headingLevel(node)}`, data, 0];
    case "bullet":
    case "todo":
      return ["ul", ["li", data, 0] satisfies Element];
    case "numbered":
      return ["ol", ["li", data, 0] satisfies Element];
    case "quote":
      return ["blockquote", data, 0];
    case "code":
      return ["pre", data, 0];
    default:
      return ["p", data, 0];
  }
}

/** The level of a heading, 1 to 6. */
export function headingLevel(node: Node): number {
  return Math.min(6, Math.max(1, Math.trunc(Number(attributeOf(node, "level"))) || 1));
}

/** What the attribute is for this block: its own value, or the default. */
export function attributeOf(node: Node, name: keyof typeof DEFAULTS): AttributeValue {
  return (node.attrs[name] as AttributeValue | null) ?? DEFAULTS[name] ?? "";
}

/** The block's type; one that this page does not know is shown as a paragraph. */
export function typeOf(node: Node): BlockType {
  const type = attributeOf(node, "type");
  return TYPES.find((known) => known === type) ?? "paragraph";
}

/** About how many letters a block has, here or not. */
export function lettersIn(node: Node | null): number {
  if (node === null) return 0;
  return node.type === awayType ? Number(node.attrs.length) : node.content.size;
}

const shown = new WeakMap<Node, ShownBlock>();

/** The model's block of an editor node; the same node gives the same block again. */
export function toBlock(node: Node): ShownBlock {
  const known = shown.get(node);
  if (known !== undefined) return known;
  const content = contentOf(node);
  const length = content === null ? Number(node.attrs.length) : richLength(content);
  const block = { id: String(node.attrs.id), attributes: attributesOf(node), content, length };
  shown.set(node, block);
  return block;
}

function contentOf(node: Node): Rich | null {
  if (node.type === tableType) return tableText(node);
  return node.type === awayType ? null : richOf(node);
}

/** The model has this block as that: the same node is that block from now on. */
export function isShownAs(node: Node, block: ShownBlock): void {
  shown.set(node, block);
}

function attributesOf(node: Node): Attributes {
  const result: Record<string, AttributeValue> = {};
  for (const name of KNOWN) {
    const value = node.attrs[name] as AttributeValue | null;
    if (value !== null) result[name] = value;
  }
  return { ...result, ...(node.attrs.more as Attributes | null) };
}

/** The attributes of an editor node for a block of the model. */
export function nodeAttributes(id: string, attributes: Attributes): Record<string, unknown> {
  // A block without a type stays without one, so that opening a document changes nothing in it.
  const result: Record<string, unknown> = { id, type: null };
  const more: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (KNOWN.includes(name)) result[name] = value;
    else more[name] = value;
  }
  if (Object.keys(more).length > 0) result.more = more;
  return result;
}

/** The editor node of a block. */
export function toNode(block: ShownBlock): Node {
  const node = freshNode(block, nodeAttributes(block.id, block.attributes));
  shown.set(node, block);
  return node;
}

function freshNode(
  { content, attributes, length }: ShownBlock,
  attrs: Record<string, unknown>,
): Node {
  if (content === null) return awayType.create({ ...attrs, length });
  if (attributes.type !== "table") return blockType.create(attrs, toFragment(schema, content));
  return tableType.create(attrs, rowNodes(schema, gridOf(content), hasHead(attributes)));
}

/** The type of node that shows the block. */
export function nodeTypeOf({ content, attributes }: ShownBlock): NodeType {
  if (content === null) return awayType;
  return attributes.type === "table" ? tableType : blockType;
}

/** The block that a place is in; null: it is between blocks. */
export function blockAt($place: ResolvedPos): Node | null {
  return $place.depth > 0 ? $place.node(1) : null;
}

/** The id of the block that a place is in; empty: it is between blocks. */
export function blockIdAt($place: ResolvedPos): string {
  return String(blockAt($place)?.attrs.id ?? "");
}

/** The blocks of the editor's document. */
export function toBlocks(doc: Node): ShownBlock[] {
  return doc.children.map(toBlock);
}

/** The editor's document; an empty one shows a block `blank` that the model has not. */
export function toDoc(blocks: readonly ShownBlock[], blank: string): Node {
  const nodes = blocks.map(toNode);
  if (nodes.length === 0) nodes.push(blockType.create({ id: blank }));
  const doc = schema.topNodeType.create(null, nodes);
  if (blocks.length > 0) agree(doc, blocks);
  return doc;
}
