/** Find and replace, as the page does it: goes to what was found, and loads what is to be changed. */

import { TextSelection } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { DocumentModel } from "../document/types";
import { cleanText } from "../shared/text";
import { during } from "./doing";
import { changeFinding, type Finding, findingOf, findPlugin, type Match, replaced } from "./find";
import { unfold } from "./folding";
import { awayType } from "./schema";

/** So many blocks are loaded at a time for a replacement. */
const LOADED_MAX = 40;
/** How long a block may take to come. */
const LOAD_MS = 10_000;

/** What has become of a replacement everywhere. */
export interface Replacement {
  readonly places: number;
  /** So many places could not be had in time, and stay as they are. */
  readonly left: number;
}

export class Finder {
  private told: Finding | null = null;

  constructor(
    private readonly view: EditorView,
    private readonly model: DocumentModel,
    private readonly found: (finding: Finding) => void,
  ) {
    const plugins = [...view.state.plugins, findPlugin()];
    view.updateState(view.state.reconfigure({ plugins }));
  }

  /** Whether some texts are not here: what they say is to be given by `know`. */
  get isPartial(): boolean {
    return this.view.state.doc.children.some((node) => node.type === awayType);
  }

  /** Looks for these words, without regard to case; none: ends the search. */
  look(query: string): void {
    this.change({ query: cleanText(query) });
    this.show();
  }

  /** The texts of blocks that are not here; the first place may be known only by them. */
  know(texts: ReadonlyMap<string, string>): void {
    const before = this.current;
    this.change({ texts });
    const now = this.current;
    if (now?.block !== before?.block || now?.from !== before?.from) this.show();
  }

  /** Goes on to the next place, or back to the one before; from the last to the first. */
  step(by: 1 | -1): void {
    const { matches, current } = findingOf(this.view.state);
    if (matches.length === 0) return;
    this.change({ current: (current + by + matches.length) % matches.length });
    this.show();
  }

  /** Puts other words where the search is now; it goes on to the next place. */
  replace(words: string): Promise<void> {
    return during(this.view, this.replaceOne(words));
  }

  private async replaceOne(words: string): Promise<void> {
    const match = this.current;
    if (match === undefined) return;
    if (!match.isHere) await this.load([match.block]);
    const now = this.current;
    if (now?.block !== match.block || !now.isHere) return;
    this.view.dispatch(replaced(this.view.state, [now], cleanText(words)));
    // What was put in may hold what is looked for: it is passed over.
    const { matches, current } = findingOf(this.view.state);
    const behind = now.position + 1 + now.from + words.length;
    const next = matches.findIndex(({ position, from }) => position + 1 + from >= behind);
    if (current >= 0) this.change({ current: Math.max(0, next) });
    this.show();
  }

  /** Puts other words everywhere. */
  replaceAll(words: string): Promise<Replacement> {
    return during(this.view, this.replaceEach(words));
  }

  private async replaceEach(words: string): Promise<Replacement> {
    // A block is done once: what was put in may hold what is looked for.
    const done = new Set<string>();
    let places = 0;
    for (;;) {
      const missing = new Set<string>();
      for (const { isHere, block } of this.matches) {
        if (!isHere && !done.has(block)) missing.add(block);
      }
      const some = [...missing].slice(0, LOADED_MAX);
      const isLoaded = some.length === 0 || (await this.load(some));
      const due = this.matches.filter(({ block, isHere }) => isHere && !done.has(block));
      for (const { block } of due) done.add(block);
      places += due.length;
      this.view.dispatch(replaced(this.view.state, due, cleanText(words)));
      if (missing.size <= some.length || !isLoaded) {
        const left = this.matches.filter(({ block, isHere }) => !isHere && !done.has(block));
        return { places, left: left.length };
      }
    }
  }

  /** Ends the search with the caret at what was found last. */
  end(): void {
    const match = this.current;
    const { state } = this.view;
    if (match?.isHere) {
      const start = match.position + 1;
      const place = TextSelection.create(state.doc, start + match.from, start + match.to);
      this.view.dispatch(state.tr.setSelection(place));
    }
    this.change({ query: "" });
    this.view.focus();
  }

  /** Tells the page, when something has changed. */
  tell(): void {
    const finding = findingOf(this.view.state);
    if (finding === this.told) return;
    this.told = finding;
    this.found(finding);
  }

  private get matches(): readonly Match[] {
    return findingOf(this.view.state).matches;
  }

  private get current(): Match | undefined {
    const { matches, current } = findingOf(this.view.state);
    return matches[current];
  }

  private change(change: Parameters<typeof changeFinding>[1]): void {
    this.view.dispatch(changeFinding(this.view.state, change));
  }

  /** Brings the current place into sight; a block that is not here is loaded by that. */
  private show(): void {
    const match = this.current;
    if (match === undefined) return;
    const element = this.view.nodeDOM(match.position);
    if (!(element instanceof HTMLElement)) return;
    unfold(element);
    const place = match.isHere ? element.querySelector(".found.current") : null;
    (place ?? element).scrollIntoView?.({ block: "center" });
  }

  /** False when they have not all come in time. */
  private async load(blocks: readonly string[]): Promise<boolean> {
    const late = new Promise<false>((resolve) => setTimeout(resolve, LOAD_MS, false));
    const all = Promise.all(blocks.map((block) => this.model.show(block)));
    return Promise.race([
      all.then(
        () => true,
        () => false,
      ),
      late,
    ]);
  }
}
