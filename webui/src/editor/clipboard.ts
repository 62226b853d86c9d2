/**
 * HTML from the clipboard: what reads it comes when the person turns to the text, or with the first
 * that is to be read.
 */

import type { DOMParser, Node as ProseNode, Slice } from "prosemirror-model";
import { Plugin, PluginKey } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { Draft } from "../document/types";
import { randomId } from "../ids";
import { during } from "./doing";
import { loadFocused, once, TOOLS_MISSING } from "./focused";
import { parseText } from "./paste";

type Reader = typeof import("./reading");

/** The event at the text when pictures were in what was put in; its detail: the files. */
export const PICTURES_READ = "groupcore-pictures-read";

/** The event at the text when what was pasted may not be put in any more; its detail: drafts. */
export const NOT_PUT = "groupcore-kept";

let reader: Reader | null = null;

/** What reads HTML, with what knows letters again. */
export const loadReader = once(
  async () => (await Promise.all([import("./reading"), loadFocused()]))[0],
  (loaded) => {
    reader = loaded;
  },
);

/** HTML that ProseMirror is about to read. */
export function tamed(html: string): string {
  return reader?.tamed(html) ?? html;
}

/** What goes out as plain text: Markdown, without the reader the words alone. */
export function serialiseText(slice: Slice): string {
  const { content } = slice;
  return reader?.serialiseText(slice) ?? content.textBetween(0, content.size, "\n\n");
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

/** What was pasted before its reader was here, and between which places it is to stand. */
export interface Waiting {
  readonly id: string;
  readonly data: DataTransfer;
  readonly from: number;
  readonly to: number;
}

const WAITING = new PluginKey<readonly Waiting[]>();

/** Has what needs the reader wait for it, before what is typed meanwhile. */
export function clipboardPlugin(): Plugin {
  const ready = (): false => {
    loadReader().catch(() => undefined); // what is pasted tries again, and says so
    return false;
  };
  return new Plugin<readonly Waiting[]>({
    key: WAITING,
    state: {
      init: () => [],
      apply: (tr, waiting) =>
        (tr.getMeta(WAITING) ?? waiting).map((one: Waiting) => ({
          ...one,
          from: tr.mapping.map(one.from, -1),
          to: tr.mapping.map(one.to, -1),
        })),
    },
    props: { handleDOMEvents: { focus: ready, dragenter: ready, paste: pasteLater } },
  });
}

function pasteLater(view: EditorView, event: ClipboardEvent): boolean {
  const html = event.clipboardData?.getData("text/html") ?? "";
  const text = event.clipboardData?.getData("text/plain") ?? "";
  const { shiftKey } = (view as unknown as { input: { shiftKey: boolean } }).input;
  if (shiftKey || !view.editable) return false;
  if (reader !== null) return html === "" && reader.pasteMarkdown(view, event, text);
  if (html === "" && !text.includes("\n")) return false;
  event.preventDefault();
  const data = new DataTransfer();
  data.setData("text/html", html);
  data.setData("text/plain", text);
  const { from, to } = view.state.selection;
  setWaiting(view, [...waitingIn(view), { id: randomId(), data, from, to }]);
  const done = loadReader().then(
    ({ pasteWaiting }) => view.isDestroyed || pasteWaiting(view),
    () => {
      setWaiting(view, []);
      if (html === "") view.pasteText(text);
      else view.dom.dispatchEvent(new Event(TOOLS_MISSING)); // it is on the clipboard as before
    },
  );
  void during(view, done);
  return true;
}

/** What was pasted and has no place yet, as drafts: should the tab be gone before that. */
export function unread(view: EditorView): Draft[] {
  return waitingIn(view).map(({ id, data }) => {
    return { id, code: "", text: data.getData("text/plain") };
  });
}

export const waitingIn = ({ state }: EditorView) => WAITING.getState(state) ?? [];

export function setWaiting(view: EditorView, waiting: readonly Waiting[]): void {
  view.dispatch(view.state.tr.setMeta(WAITING, waiting));
}
