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
import type { CutText, Did, History, Note, Spot, Spots, Way } from "../undo/history";
import { during } from "./doing";
import { findBlock, remoteTransaction, toEditorPosition } from "./remote";
import { blockIdAt } from "./schema";
import { textPlace } from "./table-remote";
import { TOOLS_MISSING } from "./tables";

/** Marks a transaction that is taken back for itself, as pasting is, whatever is done around it. */
export const ALONE = "groupcore.alone";

/** So many edits and changes wait for a history that cannot be loaded. */
const WAITING_MAX = 1_000;

/** What the browser calls it, where it offers to take an edit back. */
const WAYS: Readonly<Record<string, Way>> = { historyUndo: "undo", historyRedo: "redo" };

type Loaded = typeof import("../undo/history");

let loaded: Loaded | null = null;
let loading: Promise<Loaded> | null = null;

/** The history; when it cannot be loaded, the next call tries again. */
export function loadHistory(): Promise<Loaded> {
  loading ??= import("../undo/history").then(
    (module) => {
      loaded = module;
      return module;
    },
    (error: unknown) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}

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

  /** `show` shows what has changed, and puts the caret there. */
  constructor(
    private readonly model: DocumentModel,
    private readonly load: (blocks: readonly string[]) => void,
    private readonly show: (event: ViewEvent, spots: Spots | null) => void,
  ) {}

  /** Cuts what is selected out; false: what names letters is not here, and the editor does it. */
  cutOut(view: EditorView, event: ClipboardEvent): boolean {
    const cut = loaded?.cutOut(view, event, this.model) ?? null;
    if (cut === null) return false;
    [this.cut, this.cutNote] = [cut, this.history?.last ?? null];
    event.preventDefault();
    return true;
  }

  /** Something is about to be pasted. */
  pastes(event: ClipboardEvent): void {
    this.pasting = loaded?.markOf(event.clipboardData) ?? "";
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
    const moved = (by && loaded?.movedBy(before, by, now, this.model)) ?? null;
    const isCut = pasting !== "" && pasting === this.cut?.mark && by?.getMeta("paste") === true;
    const isOut = this.cutNote === null || this.history?.isDone(this.cutNote) === true;
    const cut = moved?.cut ?? (isCut && isOut ? this.cut : null);
    if (isCut) this.cut = null;
    const letters = cut && loaded?.standingAgain(cut, before, transactions, now);
    return { verbs: moved?.verbs ?? null, letters: letters ?? [] };
  }

  /** The person has done this, to blocks from the one of index `from` on; before the model knows. */
  did(verbs: readonly Verb[], from: number, to: number, state: EditorState, by: Transaction): void {
    const { blocks } = this.model.value;
    let isNow = true; // a history that is loaded first asks when the model has gone on
    const did: Did = {
      naming: (place, count, after) =>
        (isNow && loaded?.namedLetters(this.model, place, count, after)) || null,
      verbs,
      blocks: blocks.slice(from, to),
      start: blocks[from - 1]?.id ?? "",
      spots: spotsOf(state),
      time_ms: by.time,
      composition: by.getMeta("composition") as number | undefined,
      isAlone: by.getMeta(ALONE) === true || by.getMeta("paste") === true,
    };
    this.note((history) => history.own(did));
    isNow = false;
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
    if (this.history !== null || loaded === null) return;
    this.history = new loaded.History();
    for (const act of this.waiting) act(this.history);
    this.waiting = [];
  }

  private ready(): false {
    if (this.history !== null) return false;
    loadHistory().then(
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
    return (state, dispatch, view) => {
      if (dispatch === undefined || view?.editable !== true) return true;
      this.begin();
      if (this.history !== null) {
        this.take(this.history, way, state);
        return true;
      }
      const done = loadHistory().then(
        () => {
          this.begin();
          const isAsBefore = !view.isDestroyed && view.state.doc === state.doc;
          if (this.history !== null && isAsBefore) this.take(this.history, way, view.state);
        },
        () => view.dom.dispatchEvent(new Event(TOOLS_MISSING)),
      );
      void during(view, done);
      return true;
    };
  }

  private take(history: History, way: Way, state: EditorState): void {
    const before = this.model.value;
    const taken = history.take(
      way,
      before.blocks,
      spotsOf(state),
      (place, count, after) => loaded?.namedLetters(this.model, place, count, after) ?? null,
    );
    if (taken === null) return;
    if (taken.missing.length > 0) {
      this.load(taken.missing);
      return;
    }
    this.model.change(taken.verbs);
    this.show({ changes: taken.verbs, before, after: this.model.value }, taken.spots);
  }
}

/** What was taken back as a transaction, with the caret where it was. */
export function takenTransaction(
  state: EditorState,
  event: ViewEvent,
  blank: string,
  spots: Spots | null,
): Transaction {
  const transaction = remoteTransaction(state, event, blank).scrollIntoView();
  const { doc } = transaction;
  const [anchor, head] = [spots?.anchor, spots?.head].map((spot) => {
    const found = spot === undefined ? null : findBlock(doc, spot.block);
    return found && spot ? doc.resolve(toEditorPosition(found, spot.offset)) : null;
  });
  if (!anchor || !head) return transaction;
  return transaction.setSelection(TextSelection.between(anchor, head));
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
