/**
 * The history of a document's editor: what the person does goes in, and is taken back by keys.
 *
 * It comes when the person turns to the text; what is done before it is here waits for it.
 */

import {
  type Command,
  type EditorState,
  Plugin,
  TextSelection,
  type Transaction,
} from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import type { DocumentModel, Verb, ViewEvent } from "../document/types";
import type { CutText, Did, History, Known, Note, Spot, Spots, Way } from "../undo/history";
import { cutOut } from "./cutting-out";
import { type Focused, focused, loadFocused, whenFocused } from "./focused";
import { blockIdAt } from "./schema";
import { textPlace } from "./table-remote";

/** Marks a transaction that is taken back for itself, as pasting is, whatever is done around it. */
export const ALONE = "groupcore.alone";

/** So many edits and changes wait for a history that cannot be loaded. */
const WAITING_MAX = 1_000;

/** What the browser calls it, where it offers to take an edit back. */
const WAYS: Readonly<Record<string, Way>> = { historyUndo: "undo", historyRedo: "redo" };

/** What was taken back as a transaction, with the caret where it was. */
export type Taken = Focused["takenTransaction"];

export class Undoing {
  readonly keys = {
    "Mod-z": this.command("undo"),
    "Mod-Shift-z": this.command("redo"),
    "Mod-y": this.command("redo"),
  };
  /** Takes back when the browser asks for it, by its menu or another key of the system. */
  readonly plugin = new Plugin({
    props: {
      handleDOMEvents: {
        beforeinput: (view, event) => this.asked(view, event),
        focus: () => this.ready(),
      },
    },
  });
  private history: History | null = null;
  /** What has happened while the history is not here. */
  private waiting: ((history: History) => void)[] = [];
  /** What was cut last, as long as it stands nowhere, and the note that takes the cut back. */
  private cut: CutText | null = null;
  private cutNote: Note | null = null;
  /** The mark of what is being pasted. */
  private pasting = "";

  /** `show` shows what has changed, and puts the caret there: as `taken` has it. */
  constructor(
    private readonly model: DocumentModel,
    private readonly load: (blocks: readonly string[]) => void,
    private readonly show: (event: ViewEvent, spots: Spots | null, taken: Taken) => void,
  ) {}

  /** Cuts what is selected out; false: nothing is. */
  cutOut(view: EditorView, event: ClipboardEvent): boolean {
    const { state } = view;
    const known = this.known(blocksIn(state));
    const now = focused?.linesOf(state, known);
    const mark = cutOut(view, event);
    if (mark === null) return false;
    const cut = { mark, lines: () => now ?? focused?.linesOf(state, known) ?? [] };
    [this.cut, this.cutNote] = [cut, null];
    this.note((history) => {
      if (this.cut === cut) this.cutNote = history.last;
    });
    event.preventDefault();
    return true;
  }

  /** What names letters of these blocks, of now: what does it may not be here yet. */
  private known(ids: readonly string[]): Known {
    const { unconfirmed } = this.model;
    const texts = unconfirmed.flat().filter((part) => typeof part === "string");
    const shown = new Map([...ids, ...texts].map((id) => [id, this.model.past(id)?.lastShown]));
    return { unconfirmed, past: (id) => ({ lastShown: shown.get(id) ?? 0 }) };
  }

  /** Something is about to be pasted. */
  pastes(event: ClipboardEvent): void {
    this.pasting = focused?.markOf(event.clipboardData) ?? "";
  }

  /**
   * What the person's transaction, the first of these, does as verbs, where these are other ones than the
   * comparison finds; and which letters stand again by it. Ask before the model knows.
   */
  again(
    before: EditorState,
    transactions: readonly Transaction[],
    now: EditorState,
  ): { verbs: readonly Verb[] | null; letters: readonly Verb[] } {
    const { pasting } = this;
    this.pasting = "";
    const [by] = transactions;
    const moved = (by && focused?.movedBy(before, by, now, this.model)) ?? null;
    const isCut = pasting !== "" && pasting === this.cut?.mark && by?.getMeta("paste") === true;
    const isOut = this.cutNote === null || this.history?.isDone(this.cutNote) === true;
    const cut = moved?.cut ?? (isCut && isOut ? this.cut : null);
    if (isCut) this.cut = null;
    const letters = cut && focused?.standingAgain(cut, before, transactions, now);
    return { verbs: moved?.verbs ?? null, letters: letters ?? [] };
  }

  /** The person has done this, to blocks from the one of index `from` on; before the model knows. */
  did(verbs: readonly Verb[], from: number, to: number, state: EditorState, by: Transaction): void {
    const blocks = this.model.value.blocks.slice(from, to);
    // A history that is loaded first asks when the model has gone on.
    const known = focused ? this.model : this.known(blocks.map(({ id }) => id));
    const did: Did = {
      naming: (place, count, after) => focused?.namedLetters(known, place, count, after) ?? null,
      verbs,
      blocks,
      start: this.model.value.blocks[from - 1]?.id ?? "",
      spots: spotsOf(state),
      time_ms: by.time,
      composition: by.getMeta("composition") as number | undefined,
      isAlone: by.getMeta(ALONE) === true || by.getMeta("paste") === true,
    };
    this.note((history) => history.own(did));
  }

  others(event: ViewEvent): void {
    if (this.history === null && this.waiting.length === 0) return;
    this.note((history) => history.others(event));
  }

  private note(act: (history: History) => void): void {
    this.begin();
    if (this.history !== null) {
      act(this.history);
      return;
    }
    if (this.waiting.length >= WAITING_MAX) this.waiting = [];
    this.waiting.push(act);
    this.ready();
  }

  private begin(): void {
    if (this.history !== null || focused === null) return;
    this.history = new focused.History();
    for (const act of this.waiting) act(this.history);
    this.waiting = [];
  }

  private ready(): false {
    if (this.history !== null) return false;
    loadFocused().then(
      () => this.begin(),
      () => undefined, // whoever takes something back tries again, and is told
    );
    return false;
  }

  private asked(view: EditorView, event: InputEvent): boolean {
    const way = WAYS[event.inputType];
    if (way === undefined) return false;
    event.preventDefault();
    return this.command(way)(view.state, view.dispatch, view);
  }

  /** The command that takes back. That there is nothing leaves the key to no other command. */
  command(way: Way): Command {
    const command = whenFocused(
      () => (state) => {
        this.begin();
        if (this.history !== null) this.take(this.history, way, state);
        return true;
      },
      true,
    );
    return (state, dispatch, view) =>
      dispatch === undefined || view?.editable !== true || command(state, dispatch, view);
  }

  private take(history: History, way: Way, state: EditorState): void {
    const before = this.model.value;
    const taken = history.take(
      way,
      before.blocks,
      spotsOf(state),
      (place, count, after) => focused?.namedLetters(this.model, place, count, after) ?? null,
    );
    if (taken === null) return;
    if (taken.missing.length > 0) {
      this.load(taken.missing);
      return;
    }
    this.model.change(taken.verbs);
    const { verbs: changes, spots } = taken;
    const { takenTransaction } = focused as Focused;
    this.show({ changes, before, after: this.model.value }, spots, takenTransaction);
  }
}

/** The blocks that are selected, in part or whole. */
function blocksIn({ doc, selection: { $from, $to } }: EditorState): string[] {
  const nodes = doc.children.slice($from.index(0), $to.indexAfter(0));
  return nodes.map(({ attrs }) => String(attrs.id));
}

/** Where the ends of the selection are; null: it is in no text. */
function spotsOf({ doc, selection }: EditorState): Spots | null {
  const { $anchor, $head } = selection;
  const isText = $anchor.parent.isTextblock && $head.parent.isTextblock;
  const near = isText
    ? selection
    : TextSelection.between(doc.resolve(selection.from), doc.resolve(selection.to));
  if (!near.$head.parent.isTextblock) return null;
  const spot = ($place: typeof $head): Spot => ({
    block: blockIdAt($place),
    offset: textPlace($place),
  });
  return { anchor: spot(near.$anchor), head: spot(near.$head) };
}
