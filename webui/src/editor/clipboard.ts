/**
 * HTML from the clipboard: what reads it comes when the person turns to the text, or with the first
 * that is to be read.
 */

import type { DOMParser, Node as ProseNode } from "prosemirror-model";
import { Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { parseText } from "./paste";
import { TOOLS_MISSING } from "./tables";

type Reader = typeof import("./reading");

/** The event at the text when pictures were in what was put in; its detail: the files. */
export const PICTURES_READ = "groupcore-pictures-read";

let reader: Reader | null = null;
let loading: Promise<Reader> | null = null;

/** What reads HTML; when it cannot be loaded, the next call tries again. */
export function loadReader(): Promise<Reader> {
  loading ??= import("./reading").then(
    (loaded) => {
      reader = loaded;
      return loaded;
    },
    (error: unknown) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}

/** HTML that ProseMirror is about to read. */
export function tamed(html: string): string {
  return reader?.tamed(html) ?? html;
}

/** What ProseMirror reads the clipboard of this editor with; without the reader: words alone. */
export function clipboardParser(view: () => EditorView): DOMParser {
  const parseSlice: DOMParser["parseSlice"] = (dom, options = {}) => {
    if (reader === null) return parseText(dom.textContent ?? "", startOf(view().state.doc));
    const tell = (files: readonly File[]): void => {
      const event = new CustomEvent(PICTURES_READ, { detail: files });
      queueMicrotask(() => view().dom.dispatchEvent(event)); // behind the words
    };
    return new reader.HtmlReader(tell).parseSlice(dom, options);
  };
  return { parseSlice } as DOMParser;
}

const startOf = (doc: ProseNode) => doc.resolve(0);

/** Has HTML wait for its reader, and be put in where the caret is then. */
export function clipboardPlugin(): Plugin {
  const ready = (): false => {
    loadReader().catch(() => undefined); // what is pasted tries again, and says so
    return false;
  };
  return new Plugin({
    props: { handleDOMEvents: { focus: ready, dragenter: ready, paste: pasteLater } },
  });
}

function pasteLater(view: EditorView, event: ClipboardEvent): boolean {
  const html = event.clipboardData?.getData("text/html") ?? "";
  const text = event.clipboardData?.getData("text/plain") ?? "";
  const { shiftKey } = (view as unknown as { input: { shiftKey: boolean } }).input;
  if (shiftKey || !view.editable) return false;
  if (html === "") return reader?.pasteMarkdown(view, event, text) ?? false;
  if (reader !== null) return false;
  event.preventDefault();
  const clipboardData = new DataTransfer();
  clipboardData.setData("text/html", html);
  clipboardData.setData("text/plain", text);
  const again = { clipboardData, bubbles: true, cancelable: true };
  loadReader().then(
    () => view.isDestroyed || view.dom.dispatchEvent(new ClipboardEvent("paste", again)),
    () => view.dom.dispatchEvent(new Event(TOOLS_MISSING)), // it is on the clipboard as before
  );
  return true;
}
