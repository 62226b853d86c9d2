/** An image block on the page: the picture, its caption, and what it shows in words. */

import type { Node } from "prosemirror-model";
import type { EditorView, NodeView } from "prosemirror-view";
import { describe } from "../editor/block-view";
import { TOOLS_MISSING } from "../editor/focused";
import { typeOf } from "../editor/schema";
import { withWords } from "../words/language";
import { pictureWords } from "../words/pictures";
import { isHash } from "./sending";

/** Where a picture may be had, the nearest first. */
export type PictureUrls = (picture: string) => readonly string[];

/** A picture that no node gives is asked for again: it may be on its way there. */
const AGAIN_MS = [1_000, 4_000, 20_000] as const;

const sizeOf = (value: unknown): number =>
  typeof value === "number" && value >= 1 && value <= 100_000 ? Math.trunc(value) : 0;

const make = <Name extends keyof HTMLElementTagNameMap>(name: Name) => document.createElement(name);

function button(classes: readonly string[], act: () => void): HTMLButtonElement {
  const made = make("button");
  made.type = "button";
  made.classList.add(...classes);
  made.addEventListener("click", act);
  return made;
}

const loadForm = () => withWords(import("./describing"), "uploads");

export class ImageView implements NodeView {
  readonly dom = make("figure");
  readonly contentDOM = make("figcaption");
  private readonly frame = make("div");
  private readonly image = make("img");
  private readonly broken = make("div");
  private readonly words: HTMLButtonElement;
  private form: HTMLFormElement | null = null;
  private urls: readonly string[] = [];
  private tried = 0;
  private shown = "";
  private attempts = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private node: Node,
    private readonly view: EditorView,
    private readonly position: () => number | undefined,
    private readonly urlsOf: PictureUrls,
  ) {
    this.frame.className = "picture-frame";
    this.frame.contentEditable = "false";
    this.image.loading = "lazy";
    this.image.decoding = "async";
    this.image.draggable = false;
    this.image.onerror = () => this.next();
    this.image.onload = () => (this.dom.dataset.picture = "shown");
    this.broken.className = "picture-broken";
    this.broken.hidden = true;
    const reason = make("p");
    reason.textContent = pictureWords.cannotShow;
    const again = button(["button", "small"], () => this.retry());
    again.textContent = pictureWords.showAgain;
    this.broken.append(reason, again);
    this.words = button(["picture-words"], () => this.ask());
    this.words.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.view.focus();
    });
    this.frame.append(this.image, this.broken, this.words);
    this.contentDOM.dataset.placeholder = pictureWords.caption;
    this.dom.append(this.frame, this.contentDOM);
    this.draw(node);
    loadForm().catch(() => undefined); // who asks for it tries again
  }

  update(node: Node): boolean {
    if (node.type !== this.node.type || typeOf(node) !== "image") return false;
    this.draw(node);
    return true;
  }

  stopEvent(event: Event): boolean {
    const { target } = event;
    return (
      target instanceof Element && (target.closest("button") ?? target.closest("form")) !== null
    );
  }

  ignoreMutation(mutation: { type: string; target: globalThis.Node }): boolean {
    if (mutation.type === "selection") return false;
    return !this.contentDOM.contains(mutation.target) || mutation.type === "attributes";
  }

  private draw(node: Node): void {
    this.node = node;
    describe(this.dom, node, node.content.size);
    this.contentDOM.dataset.empty = String(node.content.size === 0);
    const { picture, width, height, alt } = node.attrs;
    const words = typeof alt === "string" ? alt : "";
    // Its place is as high before it is loaded.
    this.image.width = sizeOf(width) || 640;
    this.image.height = sizeOf(height) || 360;
    this.image.alt = words || node.textContent || pictureWords.noDescription;
    this.words.textContent = words === "" ? pictureWords.describe : pictureWords.describeAgain;
    this.words.title = words;
    this.words.hidden = !this.view.editable || this.form !== null;
    if (this.shown === picture) return;
    this.shown = String(picture);
    this.retry();
  }

  destroy(): void {
    clearTimeout(this.timer);
  }

  private retry(): void {
    this.attempts = 0;
    this.load();
  }

  private load(): void {
    clearTimeout(this.timer);
    this.urls = isHash(this.shown) ? this.urlsOf(this.shown) : [];
    this.tried = 0;
    this.show(false);
    this.next();
  }

  private show(isBroken: boolean): void {
    this.broken.hidden = !isBroken;
    this.image.hidden = isBroken;
    this.dom.dataset.picture = isBroken ? "broken" : "loading";
  }

  /** The next node that may have it. */
  private next(): void {
    const url = this.urls[this.tried];
    this.tried += 1;
    if (url === undefined) {
      this.image.removeAttribute("src");
      this.show(true);
      const wait_ms = AGAIN_MS[this.attempts];
      this.attempts += 1;
      if (wait_ms !== undefined) this.timer = setTimeout(() => this.load(), wait_ms);
    } else this.image.src = url;
  }

  /** A field for what the picture shows: there at once, so that it takes what is typed next. */
  private ask(): void {
    if (this.form !== null || !this.view.editable) return;
    const [form, label, input] = [make("form"), make("label"), make("input")];
    input.value = String(this.node.attrs.alt ?? "");
    form.onsubmit = (event) => {
      event.preventDefault();
      this.close(input.value.replace(/\s+/g, " ").trim());
    };
    form.onkeydown = ({ key }) => {
      if (key === "Escape") this.close(null);
    };
    label.append(input);
    form.append(label);
    this.form = form;
    this.words.hidden = true;
    this.frame.append(form);
    input.focus();
    loadForm().then(
      ({ dressForm }) => dressForm(form, label, input),
      () => {
        if (this.form === form) this.close(null);
        this.view.dom.dispatchEvent(new Event(TOOLS_MISSING));
      },
    );
  }

  /** Null: it stays as it was. */
  private close(alt: string | null): void {
    this.form?.remove();
    this.form = null;
    const at = this.position();
    if (alt !== null && at !== undefined && alt !== (this.node.attrs.alt ?? "")) {
      this.view.dispatch(this.view.state.tr.setNodeAttribute(at, "alt", alt === "" ? null : alt));
    }
    this.words.hidden = false;
    this.words.focus();
  }
}
