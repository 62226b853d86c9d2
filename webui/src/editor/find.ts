/**
 * Words that are looked for, in all blocks: in those that are here, and in the texts of the others
 * as a node gave them when the search began.
 */

import type { Node } from "prosemirror-model";
import { type EditorState, Plugin, PluginKey, type Transaction } from "prosemirror-state";
import { Decoration, DecorationSet } from "prosemirror-view";
import { awayType } from "./schema";
import { linesIn } from "./table-nodes";

/** A place where the words stand, in the editor's count from the start of what is in its block. */
export interface Match {
  readonly block: string;
  readonly isHere: boolean;
  /** Position right before the block. */
  readonly position: number;
  readonly from: number;
  readonly to: number;
}

export interface Finding {
  readonly query: string;
  readonly matches: readonly Match[];
  /** Which of them is looked at; -1: there is none. */
  readonly current: number;
}

interface State extends Finding {
  readonly texts: ReadonlyMap<string, string>;
  readonly shown: DecorationSet;
}

/** What changes a search. */
interface Change {
  readonly query?: string;
  readonly texts?: ReadonlyMap<string, string>;
  readonly current?: number;
}

const FIND = new PluginKey<State>("find");
/** So many places are marked in the text; all are counted. */
const SHOWN_MAX = 1_000;
const NONE: State = {
  query: "",
  texts: new Map(),
  matches: [],
  current: -1,
  shown: DecorationSet.empty,
};

export function findPlugin(): Plugin<State> {
  return new Plugin<State>({
    key: FIND,
    state: {
      init: () => NONE,
      apply: (transaction, before, _old, state) => {
        const change = transaction.getMeta(FIND) as Change | undefined;
        if (change === undefined && (before.query === "" || !transaction.docChanged)) return before;
        return searched(state.doc, { ...before, ...change }, change?.query !== undefined);
      },
    },
    props: { decorations: (state) => FIND.getState(state)?.shown },
  });
}

/** What is looked for, and where it stands. */
export function findingOf(state: EditorState): Finding {
  return FIND.getState(state) ?? NONE;
}

export function changeFinding(state: EditorState, change: Change): Transaction {
  return state.tr.setMeta(FIND, change);
}

function searched(doc: Node, state: State, isNew: boolean): State {
  if (state.query === "") return NONE;
  const pattern = new RegExp(state.query.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  const matches: Match[] = [];
  doc.forEach((node, position) => {
    const block = String(node.attrs.id);
    const isHere = node.type !== awayType;
    const lines = isHere ? linesIn(node) : [{ text: state.texts.get(block) ?? "", start: 1 }];
    for (const { text, start } of lines) {
      for (const found of text.matchAll(pattern)) {
        const from = start - 1 + found.index;
        matches.push({ block, isHere, position, from, to: from + found[0].length });
      }
    }
  });
  const wanted = isNew ? 0 : state.current;
  const current = Math.min(Math.max(wanted, 0), matches.length - 1);
  return { ...state, matches, current, shown: drawn(doc, matches, current) };
}

function drawn(doc: Node, matches: readonly Match[], current: number): DecorationSet {
  const first = Math.max(0, current - SHOWN_MAX / 2);
  const marks = matches.slice(first, first + SHOWN_MAX).flatMap((match, at) => {
    if (!match.isHere) return [];
    const start = match.position + 1;
    const name = first + at === current ? "found current" : "found";
    return [Decoration.inline(start + match.from, start + match.to, { class: name })];
  });
  return DecorationSet.create(doc, marks);
}

/** Puts other words where the search has found these; places that are not here stay. */
export function replaced(
  state: EditorState,
  matches: readonly Match[],
  words: string,
): Transaction {
  const transaction = state.tr;
  for (const { isHere, position, from, to } of [...matches].reverse()) {
    if (!isHere) continue;
    const start = position + 1;
    if (words === "") transaction.delete(start + from, start + to);
    else transaction.insertText(words, start + from, start + to);
  }
  return transaction;
}
