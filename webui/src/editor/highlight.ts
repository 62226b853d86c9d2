/**
 * Colours in code: decorations alone, of the blocks in sight, a moment after the last key. Until
 * then what is coloured moves along with the text.
 */

import type { Node } from "prosemirror-model";
import { Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import type { Span } from "./languages";
import { attributeOf, blockType, typeOf } from "./schema";

/** How long after a change the colours follow: a long block takes longer to look through. */
const WAIT_MS = 120;
const LONG_WAIT_MS = 500;
const LONG_CODE = 3_000;
/** So many blocks above and below the sight, too. */
const MARGIN = 5;

type Read = (code: string, language: string) => readonly Span[];

const COLOURS = new PluginKey<DecorationSet>("colours");

export function highlightPlugin(load: () => Promise<Read> = loadReader): Plugin<DecorationSet> {
  return new Plugin<DecorationSet>({
    key: COLOURS,
    state: {
      init: () => DecorationSet.empty,
      apply: (transaction, shown) => {
        const next = transaction.getMeta(COLOURS) as DecorationSet | undefined;
        return next ?? shown.map(transaction.mapping, transaction.doc);
      },
    },
    props: { decorations: (state) => COLOURS.getState(state) },
    view: (view) => {
      // When plugins are added to an editor, all of them begin anew.
      const before = views.get(view);
      const colours = before ?? new Colours(view, load);
      views.set(view, colours);
      if (before !== undefined) colours.later();
      return {
        update: (_view, before) => {
          if (view.state.doc !== before.doc) colours.later();
        },
        destroy: () => colours.stop(),
      };
    },
  });
}

const views = new WeakMap<EditorView, Colours>();

/** The blocks from this one to that one are in sight. */
export function lookAtCode(view: EditorView, first: number, last: number): void {
  views.get(view)?.look(first, last);
}

async function loadReader(): Promise<Read> {
  return (await import("./languages")).spansOf;
}

class Colours {
  private first = 0;
  private last = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private read: Read | null = null;
  private isLoading = false;
  private drawn: readonly Node[] = [];
  private readonly known = new WeakMap<Node, readonly Span[]>();

  constructor(
    private readonly view: EditorView,
    private readonly load: () => Promise<Read>,
  ) {}

  look(first: number, last: number): void {
    this.first = first;
    this.last = last;
    this.later();
  }

  /** Draws in a moment, if any code is in sight that is not drawn as it is now. */
  later(): void {
    const seen = this.seen();
    const isSame =
      seen.length === this.drawn.length && seen.every((node, at) => node === this.drawn[at]);
    if (isSame) return;
    clearTimeout(this.timer);
    const isLong = seen.some(({ content }) => content.size > LONG_CODE);
    this.timer = setTimeout(() => this.draw(), isLong ? LONG_WAIT_MS : WAIT_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  /** The blocks of code in sight that name their language. */
  private seen(): Node[] {
    const { children } = this.view.state.doc;
    const near = children.slice(Math.max(0, this.first - MARGIN), this.last + MARGIN + 1);
    return near.filter(
      (node) =>
        node.type === blockType && typeOf(node) === "code" && attributeOf(node, "language") !== "",
    );
  }

  private draw(): void {
    if (this.view.isDestroyed) return;
    if (this.view.composing) {
      this.later();
      return;
    }
    const { read } = this;
    const seen = this.seen();
    if (read === null && seen.length > 0) {
      void this.begin();
      return;
    }
    const { tr, doc } = this.view.state;
    const marks: Decoration[] = [];
    const wanted = new Set(seen);
    doc.forEach((node, from) => {
      if (!wanted.has(node)) return;
      for (const { from: start, to, kind } of this.spans(node, read)) {
        marks.push(Decoration.inline(from + 1 + start, from + 1 + to, { class: kind }));
      }
    });
    this.drawn = seen;
    const set = DecorationSet.create(doc, marks);
    this.view.dispatch(tr.setMeta(COLOURS, set));
  }

  private spans(node: Node, read: Read | null): readonly Span[] {
    const known = this.known.get(node);
    if (known !== undefined || read === null) return known ?? [];
    const spans = read(node.textContent, String(attributeOf(node, "language")));
    this.known.set(node, spans);
    return spans;
  }

  private async begin(): Promise<void> {
    if (this.isLoading) return;
    this.isLoading = true;
    try {
      this.read = await this.load();
    } catch {
      return; // without colours until more code comes into sight
    } finally {
      this.isLoading = false;
    }
    if (!this.view.isDestroyed) this.draw();
  }
}
