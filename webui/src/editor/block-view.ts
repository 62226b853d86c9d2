/** How a block is drawn: the element that fits its type, with its id and what CSS needs to know. */

import type { Node } from "prosemirror-model";
import type { EditorView, NodeView } from "prosemirror-view";
import { editorWords } from "../words/editor";
import { attributeOf, headingLevel, typeOf } from "./schema";

function tagOf(node: Node): string {
  switch (typeOf(node)) {
    case "heading":
      return `h${headingLevel(node)}`;
    case "quote":
      return "blockquote";
    case "code":
      return "pre";
    case "todo":
      return "div";
    case "image":
      return "figure";
    default:
      return "p";
  }
}

export class BlockView implements NodeView {
  readonly dom: HTMLElement;
  readonly contentDOM: HTMLElement;
  private readonly checkbox: HTMLInputElement | null = null;

  constructor(
    private node: Node,
    view: EditorView,
    getPosition: () => number | undefined,
  ) {
    this.dom = document.createElement(tagOf(node));
    if (typeOf(node) === "todo") {
      this.checkbox = todoBox(view, getPosition);
      this.contentDOM = document.createElement("span");
      this.dom.append(this.checkbox, this.contentDOM);
    } else {
      this.contentDOM = this.dom;
    }
    if (typeOf(node) === "code") this.dom.spellcheck = false;
    this.draw(node);
  }

  /** Takes the changed node when the same element can show it. */
  update(node: Node): boolean {
    const isTodo = (typeOf(node) === "todo") === (this.checkbox !== null);
    if (node.type !== this.node.type || !isTodo) return false;
    if (tagOf(node) !== this.dom.localName) return false;
    this.draw(node);
    return true;
  }

  /** Only the text is the editor's: what happens to the checkbox is not. */
  stopEvent(event: Event): boolean {
    return event.target === this.checkbox;
  }

  ignoreMutation(mutation: { type: string; target: globalThis.Node }): boolean {
    if (mutation.type === "selection") return false;
    return !this.contentDOM.contains(mutation.target) || mutation.type === "attributes";
  }

  private draw(node: Node): void {
    this.node = node;
    describe(this.dom, node, node.content.size);
    const { dataset } = this.dom;
    if (typeOf(node) === "code") dataset.language = String(attributeOf(node, "language"));
    dataset.empty = String(node.content.size === 0);
    if (this.checkbox !== null) {
      this.checkbox.checked = attributeOf(node, "checked") === true;
      this.checkbox.setAttribute("aria-label", node.textContent || editorWords.todo);
      dataset.checked = String(this.checkbox.checked);
    }
  }
}

/** What CSS needs to know of a block; `length`: of its text, for the height of what is not drawn. */
export function describe(dom: HTMLElement, node: Node, length: number): void {
  const { dataset } = dom;
  dataset.blockId = String(node.attrs.id);
  dataset.type = typeOf(node);
  dataset.depth = String(Math.min(8, Math.max(0, Number(attributeOf(node, "depth")))));
  dom.style.setProperty("--length", String(Math.max(1, length)));
}

/** A block whose text is not here: as high as it will be, and nothing to write in. */
export class AwayView implements NodeView {
  readonly dom: HTMLElement;

  constructor(private node: Node) {
    this.dom = document.createElement(typeOf(node) === "heading" ? tagOf(node) : "p");
    this.dom.contentEditable = "false";
    this.dom.dataset.away = "true";
    this.dom.setAttribute("aria-busy", "true");
    const words = document.createElement("span");
    words.className = "visually-hidden";
    words.textContent = editorWords.notLoaded;
    this.dom.append(words);
    describe(this.dom, node, Number(node.attrs.length));
  }

  update(node: Node): boolean {
    if (node.type !== this.node.type || typeOf(node) !== typeOf(this.node)) return false;
    this.node = node;
    describe(this.dom, node, Number(node.attrs.length));
    return true;
  }

  ignoreMutation(): boolean {
    return true;
  }
}

function todoBox(view: EditorView, getPosition: () => number | undefined): HTMLInputElement {
  const box = document.createElement("input");
  box.type = "checkbox";
  box.contentEditable = "false";
  box.addEventListener("change", () => {
    const position = getPosition();
    if (position === undefined) return;
    view.dispatch(view.state.tr.setNodeAttribute(position, "checked", box.checked));
  });
  return box;
}
