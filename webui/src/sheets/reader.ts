/**
 * A document that a card shows: its blocks as they are, over the session of the place.
 *
 * It only reads: nothing of it is kept, and no call goes out. Who writes has the document's own
 * session (Paper.svelte), whose edits the document's page would send, too.
 */

import type { CardBlock, CardState, CardView } from "../board/model/card";
import type { Session } from "../client/session";
import { GroupedDocument } from "../document/model";
import type { OpenModel } from "../document/types";
import { cardsWords } from "../words/cards";
import { blocksOf } from "./blocks";

/** So many blocks are shown; of a session's 512 objects 8 cards take at most 8 times twice this. */
export const BLOCKS_MAX = 20;
const SUMMARY_MAX = 120;

export class DocumentReader {
  private readonly model: OpenModel;
  private shown: CardView;
  private isTrashed = false;

  /** `changed`: another view. */
  constructor(
    private readonly session: Session,
    readonly document: string,
    private readonly changed: () => void,
  ) {
    this.model = new GroupedDocument(session, document, null);
    this.model.look(0, BLOCKS_MAX - 1);
    this.model.onView = () => this.look();
    this.model.onChange = () => this.look();
    this.shown = this.made();
  }

  get view(): CardView {
    return this.shown;
  }

  /** All of it that a card shows is here, or it is known why it is not. */
  get isDone(): boolean {
    const blocks = this.model.value.blocks.slice(0, BLOCKS_MAX);
    const isHere = this.model.isLoaded && blocks.every(({ content }) => content !== null);
    return isHere || this.model.problem !== null;
  }

  /** Nothing more comes of it: it has to be asked for anew. */
  get isOver(): boolean {
    return this.model.problem !== null;
  }

  /** Whether it lies in the trash. */
  trashed(isTrashed: boolean): void {
    this.isTrashed = isTrashed;
    this.look();
  }

  /** Looks again: something around it is another one. */
  look(): void {
    const next = this.made();
    if (isSame(next, this.shown)) return;
    this.shown = next;
    this.changed();
  }

  close(): void {
    this.model.onView = this.model.onChange = null;
    this.model.close();
  }

  private made(): CardView {
    const state = this.state;
    const { title, blocks } = this.model.value;
    const isRead = state === "live" || (state === "offline" && this.model.isLoaded);
    const shown = isRead ? blocksOf(this.document, blocks.slice(0, BLOCKS_MAX)) : [];
    const isNamed = isRead || state === "trashed";
    const notice = noticeOf(state, isRead);
    const summary = isRead ? summaryOf(shown, blocks.length) : "";
    return { state, title: isNamed ? title : "", blocks: shown, notice, summary };
  }

  private get state(): CardState {
    const { problem, isLoaded } = this.model;
    if (problem !== null) return stateOf(problem.code);
    if (this.session.state !== "connected") return "offline";
    if (this.isTrashed) return "trashed";
    return isLoaded ? "live" : "coming";
  }
}

function stateOf(code: string): CardState {
  if (code === "forbidden") return "forbidden";
  return code === "no_such_document" || code === "wrong_kind" ? "gone" : "failed";
}

function noticeOf(state: CardState, isRead: boolean): string {
  switch (state) {
    case "live":
    case "still":
      return "";
    case "offline":
      return isRead ? cardsWords.offlineSeen : cardsWords.offline;
    default:
      return cardsWords[state];
  }
}

/** How it begins, and how much there is. */
function summaryOf(blocks: readonly CardBlock[], count: number): string {
  const words = blocks.map(({ text, rows }) => text || rows.flat().join(" ")).join(" ");
  const letters = [...words.replace(/\s+/g, " ").trim()];
  if (letters.length === 0) return cardsWords.nothing;
  const begin = letters.slice(0, SUMMARY_MAX).join("");
  return cardsWords.begins(letters.length > SUMMARY_MAX ? `${begin}…` : begin, count);
}

function isSame(one: CardView, other: CardView): boolean {
  return (
    one.state === other.state &&
    one.title === other.title &&
    one.summary === other.summary &&
    one.blocks.length === other.blocks.length &&
    one.blocks.every((block, at) => block === other.blocks[at])
  );
}
