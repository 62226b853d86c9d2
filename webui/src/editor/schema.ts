/** The editor's document, a flat list of blocks with plain text, to and from the model. */

import { Fragment, type Node, type NodeType, Schema } from "prosemirror-model";
import type { Attributes, AttributeValue } from "../model/changes";
import { type Block, DocumentValue } from "../model/document";

export const KINDS = [
  "paragraph",
  "heading",
  "bullet",
  "numbered",
  "todo",
  "quote",
  "code",
  "divider",
] as const;
export type Kind = (typeof KINDS)[number];

/** Which attributes belong to which kind, with their defaults. */
const DEFAULTS: Readonly<Record<string, AttributeValue>> = {
  kind: "paragraph",
  level: 1,
  depth: 0,
  checked: false,
  language: "",
};

export const schema = new Schema({
  nodes: {
    doc: { content: "block+" },
    block: {
      content: "text*",
      marks: "",
      whitespace: "pre",
      defining: true,
      attrs: {
        id: { default: null },
        kind: { default: "paragraph" },
        level: { default: null },
        depth: { default: null },
        checked: { default: null },
        language: { default: null },
      },
      // Only for the clipboard: on the page a block is drawn by BlockView. The id stays behind, so
      // that a pasted copy is a new block.
      toDOM: (node) => ["p", clipboardAttributes(node), 0],
      parseDOM: [
        {
          tag: "[data-kind]",
          preserveWhitespace: "full",
          getAttrs: (element) => parseAttributes(element),
        },
        { tag: "p", preserveWhitespace: "full" },
        ...[1, 2, 3, 4, 5, 6].map((level) => ({
          tag: `h${level}`,
          attrs: { kind: "heading", level },
        })),
        { tag: "li", attrs: { kind: "bullet" } },
        { tag: "blockquote", attrs: { kind: "quote" } },
        { tag: "pre", preserveWhitespace: "full" as const, attrs: { kind: "code" } },
      ],
    },
    text: {},
  },
});

/** The editor's block type. */
export const blockType = requireBlock();

function clipboardAttributes(node: Node): Record<string, string> {
  const result: Record<string, string> = { "data-kind": kindOf(node) };
  for (const name of ["level", "depth", "checked", "language"]) {
    if (node.attrs[name] !== null) result[`data-${name}`] = String(node.attrs[name]);
  }
  return result;
}

function parseAttributes(element: HTMLElement): Record<string, AttributeValue | null> {
  const { kind = "", level, depth, checked, language } = element.dataset;
  return {
    kind: (KINDS as readonly string[]).includes(kind) ? kind : "paragraph",
    level: level === undefined ? null : Number(level),
    depth: depth === undefined ? null : Number(depth),
    checked: checked === undefined ? null : checked === "true",
    language: language ?? null,
  };
}

/** What the attribute is for this block: its own value, or the default. */
export function attributeOf(node: Node, name: keyof typeof DEFAULTS): AttributeValue {
  return (node.attrs[name] as AttributeValue | null) ?? DEFAULTS[name] ?? "";
}

/** The block's kind; a kind that this page does not know is shown as a paragraph. */
export function kindOf(node: Node): Kind {
  const kind = attributeOf(node, "kind");
  return KINDS.find((known) => known === kind) ?? "paragraph";
}

const blocks = new WeakMap<Node, Block>();

/** The model's block of an editor node; the same node gives the same value again. */
export function toBlock(node: Node): Block {
  const known = blocks.get(node);
  if (known !== undefined) return known;
  const { id, ...rest } = node.attrs as Record<string, AttributeValue | null>;
  const entries = Object.entries(rest).filter(([, value]) => value !== null);
  const attributes = Object.fromEntries(entries) as Attributes;
  const block: Block = { id: String(id), attributes, text: node.textContent };
  blocks.set(node, block);
  return block;
}

/** The editor node of a model block. */
export function toNode(block: Block): Node {
  const content = block.text === "" ? Fragment.empty : Fragment.from(schema.text(block.text));
  // A block without a kind stays without one, so that opening a document changes nothing in it.
  const attrs = { kind: null, ...block.attributes, id: block.id };
  const node = blockType.create(attrs, content);
  blocks.set(node, block);
  return node;
}

/** The model's document of the editor's. */
export function toDocument(doc: Node, title: string): DocumentValue {
  const list: Block[] = [];
  doc.forEach((node) => {
    list.push(toBlock(node));
  });
  return new DocumentValue(title, list);
}

/** The editor's document of the model's; an empty one shows a block that the model has not. */
export function toEditorDocument(document: DocumentValue, placeholder: string): Node {
  const nodes = document.blocks.map(toNode);
  if (nodes.length === 0) nodes.push(blockType.create({ id: placeholder }));
  return schema.topNodeType.create(null, nodes);
}

function requireBlock(): NodeType {
  const type = schema.nodes.block;
  if (type === undefined) throw new Error("the schema has no block");
  return type;
}
