/**
 * The handle beside the block under the pointer: dragged, it takes the block along, or all that are
 * selected with it. Keys do the same: Alt with the arrows.
 */

import "./handle.css";
import type { EditorView } from "prosemirror-view";
import { moveWords } from "../words/move";
import { serialiseText } from "./clipboard";
import { firstBelow } from "./folding";
import { movedTo, selectedRange } from "./moving";

export class Handle {
  private readonly handle = document.createElement("div");
  private readonly line = document.createElement("div");
  private readonly host: HTMLElement;
  /** The id of the block that the handle is beside. */
  private beside = "";
  private dragged: ReadonlySet<string> | null = null;
  private readonly onMove = (event: MouseEvent): void => this.follow(event);
  private readonly onLeave = (): void => void this.hide();

  constructor(private readonly view: EditorView) {
    this.host = view.dom.parentElement ?? view.dom;
    this.handle.className = "block-handle";
    this.handle.draggable = true;
    this.handle.title = moveWords.handle;
    // Who hears the page moves blocks by keys, of which the text's description tells.
    this.handle.setAttribute("aria-hidden", "true");
    this.handle.dataset.testid = "block-handle";
    this.line.className = "drop-line";
    this.handle.hidden = true;
    this.line.hidden = true;
    this.host.append(this.handle, this.line);
    this.host.addEventListener("mousemove", this.onMove);
    this.host.addEventListener("mouseleave", this.onLeave);
    this.handle.addEventListener("dragstart", (event) => this.start(event));
    this.handle.addEventListener("dragend", () => this.end());
  }

  destroy(): void {
    this.host.removeEventListener("mousemove", this.onMove);
    this.host.removeEventListener("mouseleave", this.onLeave);
    this.handle.remove();
    this.line.remove();
  }

  hide(): boolean {
    if (this.dragged === null) this.handle.hidden = true;
    return false;
  }

  private get blocks(): HTMLCollection {
    return this.view.dom.children;
  }

  /** Goes beside the block under the pointer. */
  follow({ clientY, buttons }: MouseEvent): void {
    if (this.dragged !== null || buttons !== 0 || !this.view.editable) return;
    const block = this.blocks[firstBelow(this.blocks, clientY - 1)];
    const id = block instanceof HTMLElement ? block.dataset.blockId : undefined;
    const box = block?.getBoundingClientRect();
    if (id === undefined || box === undefined || clientY < box.top - 4) {
      this.handle.hidden = true;
      return;
    }
    this.beside = id;
    this.handle.hidden = false;
    this.handle.style.top = `${box.top - this.host.getBoundingClientRect().top}px`;
  }

  private start(event: DragEvent): void {
    const { state } = this.view;
    const { from, to } = selectedRange(state);
    const ids = state.doc.children.map(({ attrs }) => String(attrs.id));
    const selected = ids.slice(from, to);
    const isSeveral = selected.length > 1 && selected.includes(this.beside);
    this.dragged = new Set(isSeveral ? selected : [this.beside]);
    const data = event.dataTransfer;
    if (data === null) return;
    const at = ids.indexOf(this.beside);
    data.effectAllowed = "move";
    data.setData("text/plain", this.words());
    const block = this.blocks[at];
    if (block !== undefined) data.setDragImage(block, 0, 0);
  }

  /** What another program is given. */
  private words(): string {
    const { doc } = this.view.state;
    let from = 0;
    let slice = "";
    for (const node of doc.children) {
      const isDragged = this.dragged?.has(String(node.attrs.id)) ?? false;
      if (isDragged) slice += `${serialiseText(doc.slice(from, from + node.nodeSize))}\n`;
      from += node.nodeSize;
    }
    return slice;
  }

  /** Before which block the pointer would put what is dragged. */
  private indexAt(clientY: number): number {
    const at = firstBelow(this.blocks, clientY - 1);
    const box = this.blocks[at]?.getBoundingClientRect();
    return box !== undefined && clientY > (box.top + box.bottom) / 2 ? at + 1 : at;
  }

  over(event: DragEvent): boolean {
    if (this.dragged === null) return false;
    event.preventDefault();
    const index = this.indexAt(event.clientY);
    const behind = this.blocks[index]?.getBoundingClientRect().top;
    const edge = behind ?? this.blocks[index - 1]?.getBoundingClientRect().bottom ?? 0;
    this.line.style.top = `${edge - this.host.getBoundingClientRect().top - 3}px`;
    this.line.hidden = false;
    return true;
  }

  leave(): boolean {
    this.line.hidden = true;
    return false;
  }

  drop(event: DragEvent): boolean {
    const { dragged } = this;
    if (dragged === null) return false;
    event.preventDefault();
    this.end();
    const transaction = movedTo(this.view.state, dragged, this.indexAt(event.clientY));
    if (transaction !== null) this.view.dispatch(transaction);
    this.view.focus();
    return true;
  }

  private end(): void {
    this.dragged = null;
    this.line.hidden = true;
    this.handle.hidden = true;
  }
}
