/** How a table is drawn: in a box of its own that scrolls when it is wider than the page. */

import type { Node } from "prosemirror-model";
import type { NodeView } from "prosemirror-view";
import { tableWords } from "../words/table";
import { describe } from "./block-view";
import { hasHead } from "./table-nodes";

export class TableView implements NodeView {
  readonly dom: HTMLElement;
  readonly contentDOM: HTMLElement;

  /** `drawn`: a table is shown. */
  constructor(
    private node: Node,
    drawn: () => void,
  ) {
    this.dom = document.createElement("div");
    const table = this.dom.appendChild(document.createElement("table"));
    table.setAttribute("aria-label", tableWords.table);
    this.contentDOM = table.appendChild(document.createElement("tbody"));
    this.draw(node);
    drawn();
  }

  update(node: Node): boolean {
    if (node.type !== this.node.type) return false;
    this.draw(node);
    return true;
  }

  ignoreMutation(mutation: { type: string; target: globalThis.Node }): boolean {
    if (mutation.type === "selection") return false;
    return !this.contentDOM.contains(mutation.target) || mutation.type === "attributes";
  }

  private draw(node: Node): void {
    this.node = node;
    describe(this.dom, node, node.content.size);
    this.dom.dataset.header = String(hasHead(node.attrs));
  }
}
