/** How a block is drawn: the element that fits its kind, with its id and what CSS needs to know. */

import type { Node } from "prosemirror-model";
import type { EditorView, NodeView } from "prosemirror-view";
import { attributeOf, kindOf } from "./schema";

function tagOf(node: Node): string {
  switch (kindOf(node)) {
    case "heading":
      return `h${Math.min(6, Math.max(1, Number(attributeOf(node, "level"))))}`;
    case "quote":
      return "blockquote";
    case "code":
      return "pre";
    case "todo":
      return "div";
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
    if (kindOf(node) === "todo") {
      this.checkbox = todoBox(view, getPosition);
      this.contentDOM = document.createElement("span");
      this.dom.append(this.checkbox, this.contentDOM);
    } else {
      this.contentDOM = this.dom;
    }
    if (kindOf(node) === "code") this.dom.spellcheck = false;
    this.draw(node);
  }

  /** Takes the changed node when the same element can show it. */
  update(node: Node): boolean {
    const isTodo = (kindOf(node) === "todo") === (this.checkbox !== null);
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
    const { dataset } = this.dom;
    dataset.blockId = String(node.attrs.id);
    dataset.kind = kindOf(node);
    dataset.depth = String(Math.min(8, Math.max(0, Number(attributeOf(node, "depth")))));
    if (kindOf(node) === "code") dataset.language = String(attributeOf(node, "language"));
    dataset.empty = String(node.content.size === 0);
    if (this.checkbox !== null) {
      this.checkbox.checked = attributeOf(node, "checked") === true;
      this.checkbox.setAttribute("aria-label", node.textContent || "To-do");
      dataset.checked = String(this.checkbox.checked);
    }
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
