/** Pictures in the editor: how files come in, and how a picture is drawn. */

import { DOMSerializer, type Node } from "prosemirror-model";
import { type EditorState, Plugin } from "prosemirror-state";
import type { EditorView, NodeView } from "prosemirror-view";
import { PICTURES_READ } from "../editor/clipboard";
import { schema, typeOf } from "../editor/schema";
import { randomId } from "../ids";
import { ImageView } from "./image-view";
import { ACCEPTED, isHash, pictureUrl } from "./sending";
import { PICTURE_WANTED } from "./wanted";

/** What the plugin asks for. */
export interface PictureActs {
  readonly doc: string;
  readonly add: (id: string, file: Blob, name: string, behind: string) => void;
  readonly adopt: (from: string, picture: string) => void;
  /** The other nodes, where pictures may be had while this page's own is gone. */
  readonly nodes: () => readonly string[];
}

const OWN_ADDRESS = /\/api\/v1\/documents\/([\w-]{1,64})\/pictures\/([0-9a-f]{64})/g;

/** The files among these that may be pictures. */
export function pictureFiles(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
}

/** The pictures that copied blocks show, and the documents that they are from. */
export function copiedPictures(html: string): { from: string; picture: string }[] {
  const found = new Map<string, { from: string; picture: string }>();
  for (const [address, from = "", picture = ""] of html.matchAll(OWN_ADDRESS)) {
    found.set(address, { from, picture });
  }
  return [...found.values()];
}

export class PicturePlugin {
  readonly plugin: Plugin;
  /** The editor's; null: it is not there (any more). */
  view: EditorView | null = null;

  constructor(private readonly acts: PictureActs) {
    this.plugin = new Plugin({
      view: (view) => {
        this.view = view;
        return {};
      },
      props: {
        handleKeyDown: (view, event) => isTab(event) && describePicture(view),
        clipboardSerializer: serializerFor(acts.doc),
        handleDOMEvents: {
          paste: (view, event) => this.paste(view, event),
          drop: (view, event) => this.drop(view, event),
          [PICTURE_WANTED]: (view: EditorView) => this.choose(view),
          [PICTURES_READ]: (view: EditorView, { detail }: CustomEvent<readonly File[]>) =>
            this.takeHere(view, detail),
        },
      },
    });
  }

  /** How an image is drawn; null for any other block. */
  viewOf(node: Node, view: EditorView, position: () => number | undefined): NodeView | null {
    if (typeOf(node) !== "image") return null;
    const { doc, nodes } = this.acts;
    const urls = (picture: string): string[] =>
      ["", ...nodes()].map((base) => pictureUrl(doc, picture, base));
    return new ImageView(node, view, position, urls);
  }

  // --- coming in --------------------------------------------------------------------------------

  private paste(view: EditorView, event: ClipboardEvent): boolean {
    const { clipboardData } = event;
    const html = clipboardData?.getData("text/html") ?? "";
    for (const { from, picture } of copiedPictures(html)) this.acts.adopt(from, picture);
    const files = pictureFiles(clipboardData);
    // Words of Word come with a picture of themselves; a copied picture comes with its tag alone.
    const hasWords = clipboardData?.getData("text/plain").trim() !== "";
    if (!view.editable || files.length === 0 || hasWords) return false;
    event.preventDefault();
    this.takeHere(view, files);
    return true;
  }

  private takeHere(view: EditorView, files: readonly File[]): void {
    this.take(view, files, placeAt(view.state, view.state.selection.$head.pos));
  }

  private drop(view: EditorView, event: DragEvent): boolean {
    const files = pictureFiles(event.dataTransfer);
    if (!view.editable || files.length === 0) return false;
    event.preventDefault();
    const found = view.posAtCoords({ left: event.clientX, top: event.clientY });
    this.take(view, files, placeAt(view.state, found?.pos ?? view.state.doc.content.size));
    return true;
  }

  /** Lets the person choose files of this machine. */
  private choose(view: EditorView): boolean {
    if (!view.editable) return true;
    const place = placeAt(view.state, view.state.selection.$head.pos);
    const input = view.dom.ownerDocument.createElement("input");
    input.type = "file";
    input.accept = ACCEPTED;
    input.multiple = true;
    input.addEventListener("change", () => {
      this.take(view, [...(input.files ?? [])], Math.min(place, view.state.doc.content.size));
      view.focus();
    });
    input.click();
    return true;
  }

  private take(view: EditorView, files: readonly File[], place: number): void {
    const { doc } = view.state;
    const index = doc.resolve(place).index(0);
    const behind = index > 0 ? String(doc.child(index - 1).attrs.id) : "";
    for (const file of files) this.acts.add(randomId(), file, file.name, behind);
  }

  /** The editor is gone. */
  destroy(): void {
    this.view = null;
  }
}

const isTab = ({ key, shiftKey }: KeyboardEvent): boolean => key === "Tab" && !shiftKey;

/** From the caption of an image to its description. */
function describePicture(view: EditorView): boolean {
  const { $head } = view.state.selection;
  if (typeOf($head.parent) !== "image") return false;
  const figure = view.nodeDOM($head.before(1));
  const button =
    figure instanceof Element ? figure.querySelector<HTMLElement>("button.picture-words") : null;
  button?.focus();
  return button !== null;
}

/** The place between blocks that fits best: before an empty paragraph, behind any other block. */
export function placeAt(state: EditorState, position: number): number {
  const $place = state.doc.resolve(Math.min(position, state.doc.content.size));
  if ($place.depth === 0) return $place.pos;
  const block = $place.node(1);
  const isBlank = block.content.size === 0 && typeOf(block) === "paragraph";
  return isBlank ? $place.before(1) : $place.after(1);
}

/** Where others, and this page, find the pictures of what is copied. */
function serializerFor(doc: string): DOMSerializer {
  const plain = DOMSerializer.fromSchema(schema);
  return new DOMSerializer(
    {
      ...plain.nodes,
      block: (node) => {
        const { picture } = node.attrs;
        if (typeOf(node) !== "image" || !isHash(picture))
          return plain.nodes.block?.(node) ?? ["p", 0];
        const { width, height } = node.attrs;
        const alt = String(node.attrs.alt ?? "");
        const src = pictureUrl(doc, picture, location.origin);
        const data = { "data-type": "image", "data-picture": picture, "data-width": String(width) };
        const more = { "data-height": String(height), ...(alt === "" ? {} : { "data-alt": alt }) };
        return ["figure", { ...data, ...more }, ["img", { src, alt }], ["figcaption", 0]];
      },
    },
    plain.marks,
  );
}
