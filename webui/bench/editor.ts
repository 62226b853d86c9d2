/** The editor over a document in memory, for `python -m bench editor`: no server, no network. */

import { DocumentEditor } from "../src/editor/editor";
import { block, MemoryModel } from "../tests/document-double";
import "../src/styles/base.css";
import "../src/editor/editor.css";
import "../src/editor/long.css";

const WORDS = "one two three four five six seven eight nine ten eleven twelve".split(" ");
const KINDS = ["paragraph", "paragraph", "paragraph", "heading", "bullet", "numbered", "todo"];

function text(place: number): string {
  const count = 5 + ((place * 7919) % 60);
  return Array.from({ length: count }, (_, at) => WORDS[(place + at) % WORDS.length]).join(" ");
}

const size = Number(new URLSearchParams(location.search).get("blocks") ?? "1");
const blocks = Array.from({ length: size }, (_, place) =>
  block(`b${place}`, text(place), KINDS[place % KINDS.length]),
);
const model = new MemoryModel(blocks);
const host = document.getElementById("editor") as HTMLElement;
const started_ms = performance.now();
const nothing = (): void => undefined;
new DocumentEditor(host, model, {
  edited: nothing,
  caretMoved: nothing,
  viewed: nothing,
  surroundings: nothing,
  linkWanted: nothing,
  notLoaded: nothing,
  offered: nothing,
  found: nothing,
});
host.getBoundingClientRect();
const opened_ms = performance.now() - started_ms;
requestAnimationFrame(() => {
  setTimeout(() => {
    const painted_ms = performance.now() - started_ms;
    Object.assign(window, { bench: { opened_ms, painted_ms, model } });
  });
});
