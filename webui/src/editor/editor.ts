/** The editor of one document: ProseMirror bound to the model. */

import { keymap } from "prosemirror-keymap";
import { type Command, EditorState, TextSelection, type Transaction } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { type NamedPlace, named } from "../document/place";
import type { DocumentModel, Draft, ViewEvent } from "../document/types";
import { randomId } from "../ids";
import type { Caret, Person } from "../people";
import type { Spots } from "../undo/history";
import { editorWords } from "../words/editor";
import { belowPlugin } from "./below";
import { AwayView, BlockView } from "./block-view";
import type { EditorCallbacks } from "./callbacks";
import type { Carets } from "./carets";
import { type Changed, changedChildren, indexBefore } from "./changed";
import { clicksPlugin } from "./clicks";
import {
  clipboardParser,
  clipboardPlugin,
  NOT_PUT,
  serialiseText,
  tamed,
  unread,
} from "./clipboard";
import { setLanguage } from "./code-keys";
import { colouringPlugin, lookAtCode } from "./colouring";
import { type Action, actions, choiceCommand, type EditorKey, keys } from "./commands";
import { DOING, doingIn } from "./doing";
import type { Finder } from "./finder";
import { TOOLS_MISSING } from "./focused";
import { handlePlugin } from "./handling";
import { markdownPlugin } from "./markdown";
import { openLink, setLink } from "./marks";
import { guardPlugin, normalisePlugin } from "./normalise";
import { isSettled, ownVerbs } from "./own-changes";
import { fitted, handlePaste, parseText } from "./paste";
import { caretsPlugin, drawing, loadDrawing } from "./people";
import type { Place, Places } from "./places";
import { REMOTE, remoteTransaction } from "./remote";
import { blockAt, blockIdAt, lettersIn, tableType, toDoc } from "./schema";
import { choose, menuAttributes, slashMenu, slashPlugin } from "./slash";
import { endsOf, isBlank, missingIn, surroundingsOf } from "./state";
import { textPlace } from "./table-remote";
import { TableView } from "./table-view";
import { readyTables, type TableAction, tablePlugins, whenLoaded } from "./tables";
import { type Taken, Undoing } from "./undoing";
import { Viewport } from "./viewport";

/** So many blocks are loaded at once because they are selected. */
const NEEDED_MAX = 200;

/** Who comes next tries again. */
const NOTHING = (): void => undefined;

/** Keys that change all that is selected. */
const ON_ALL = /^Mod-(?:Alt-\d|[biuek]|Shift-x|Enter)$/;

export class DocumentEditor {
  private readonly view: EditorView;
  private readonly viewport: Viewport;
  /** Find and replace. */
  /** Looks for words, once there is a bar for it. */
  finder: Finder | null = null;
  private places: Promise<Places> | null = null;
  private visited: Place | null = null;
  /** They come with the first other person. */
  private carets: Carets | null = null;
  private people: readonly Person[] = [];
  private sight: readonly [first: number, last: number] = [0, 0];
  private readonly undoing: Undoing;
  /** The id of the block that is shown while the document has none. */
  private blank: string | null = null;
  private isMenuOpen = false;
  private isWritable = true;

  constructor(
    host: HTMLElement,
    private readonly model: DocumentModel,
    private readonly callbacks: EditorCallbacks,
  ) {
    const { blocks } = model.value;
    const blank = randomId();
    this.undoing = new Undoing(
      model,
      (ids) => this.load(ids),
      (...taken) => this.showTaken(...taken),
    );
    if (blocks.length === 0) this.blank = blank;
    this.view = new EditorView(
      { mount: host },
      {
        state: EditorState.create({ doc: toDoc(blocks, blank), plugins: this.plugins() }),
        attributes: (state) => ({
          "data-testid": "editor",
          role: "textbox",
          "aria-multiline": "true",
          "aria-readonly": `${!this.isWritable}`,
          "aria-label": editorWords.text,
          "aria-describedby": "editor-help",
          ...menuAttributes(state),
        }),
        nodeViews: {
          block: (node, view, position) =>
            callbacks.pictures?.viewOf(node, view, position) ?? new BlockView(node, view, position),
          away: (node) => new AwayView(node),
          table: (node, view) => new TableView(node, () => readyTables(view)),
        },
        clipboardTextParser: parseText,
        clipboardTextSerializer: serialiseText,
        clipboardParser: clipboardParser(() => this.view),
        transformPastedHTML: tamed,
        transformPasted: fitted,
        handlePaste: (_view, _event, slice) => slice.size === 0,
        handleClick: (_view, _position, event) => openLink(event),
        handleDOMEvents: {
          paste: (view, event) => {
            this.undoing.pastes(event);
            return handlePaste(view, event);
          },
          copy: (_view, event) => this.refuseCopy(event),
          cut: (view, event) => this.refuseCopy(event) || this.undoing.cutOut(view, event),
          keydown: () => {
            this.readSelection();
            return false;
          },
          [TOOLS_MISSING]: () => callbacks.toolsMissing?.(),
          [NOT_PUT]: (_view: EditorView, { detail }: CustomEvent<readonly Draft[]>) =>
            callbacks.notPut?.(detail),
          [DOING]: () => callbacks.edited(),
          focus: () => this.reportCaret(true),
          blur: () => this.reportCaret(false),
          compositionstart: () => this.hold(),
          compositionend: () => {
            // The editor reads the finished word first.
            queueMicrotask(() => setTimeout(() => this.release(), 50));
            return false;
          },
        },
        dispatchTransaction: (transaction) => this.dispatch(transaction),
      },
    );
    this.draw();
    model.onView = (event) => this.show(event);
    this.viewport = new Viewport(this.view.dom, {
      look: (first, last) => this.look(first, last),
      selected: () => endsOf(this.view.state),
      letters: (index) => lettersIn(this.view.state.doc.maybeChild(index)),
    });
  }

  /** The search; its code comes with the bar that asks for it. */
  findWith(kind: typeof Finder): Finder {
    this.finder ??= new kind(this.view, this.model, this.callbacks.found);
    return this.finder;
  }

  /** These blocks are in sight. */
  private look(first: number, last: number): void {
    if (this.blank !== null) return;
    this.readSelection();
    this.model.look(first, last);
    this.sight = [first, last];
    this.carets?.look(first, last);
    lookAtCode(this.view, first, last);
    const shown = this.view.state.doc.maybeChild(first);
    if (shown !== null) this.callbacks.viewed(String(shown.attrs.id));
  }

  private plugins() {
    const ask: Command = () => {
      this.callbacks.linkWanted();
      return true;
    };
    const all: Record<EditorKey, Command> = { ...keys, ...this.undoing.keys, "Mod-k": ask };
    const pairs = Object.entries(all).map(([key, command]) => [
      key,
      ON_ALL.test(key) ? this.whole(command) : command,
    ]);
    return [
      this.undoing.plugin,
      markdownPlugin(),
      slashPlugin(),
      keymap(Object.fromEntries(pairs)),
      normalisePlugin(),
      guardPlugin((ids) => this.load(ids)),
      caretsPlugin(),
      colouringPlugin(),
      handlePlugin(),
      clicksPlugin(),
      belowPlugin(),
      clipboardPlugin(),
      ...(this.callbacks.pictures === undefined ? [] : [this.callbacks.pictures.plugin]),
      ...tablePlugins(),
    ];
  }

  /** Whether the person may write, as of now. An input method comes to the end of its word first. */
  setWritable(isWritable: boolean): void {
    this.isWritable = isWritable;
    if (isWritable === this.view.editable || this.view.composing) return;
    this.view.setProps({ editable: () => isWritable });
  }

  /** Shows where others are. */
  showPeople(people: readonly Person[]): void {
    this.people = people;
    if (this.carets !== null) this.carets.show(people);
    else if (people.length > 0) loadDrawing().then(() => this.draw(), NOTHING);
  }

  private draw(): void {
    if (drawing === null || this.carets !== null || this.view.isDestroyed) return;
    this.carets = new drawing.Carets(this.view, this.model, () => this.readSelection());
    this.carets.look(...this.sight);
    this.carets.show(this.people);
  }

  /** Where the caret is, as the others know the text; null: the person is not in it. */
  caret(): Caret | null {
    return this.view.hasFocus() ? this.placeOfCaret() : null;
  }

  /** Brings a place into sight, loaded or not; null: the person goes a way of their own. */
  visit(place: Place | null): void {
    this.visited = place;
    if (place === null && this.places === null) return;
    this.places ??= import("./places").then(
      ({ Places }) => new Places(this.view, (block) => this.model.show(block)),
    );
    this.places.then(
      (places) => {
        if (place === null) places.stop();
        else if (place === this.visited && !this.view.isDestroyed) places.visit(place);
      },
      () => (this.places = null), // the next one tries again
    );
  }

  /** Does what a toolbar button says, and gives the text the focus back. */
  run(action: Action): void {
    const isWay = action === "undo" || action === "redo";
    this.command(isWay ? this.undoing.command(action) : this.whole(actions[action]));
  }

  /** Does what a tool of a table says. */
  runTable(action: TableAction): void {
    this.command(whenLoaded(({ tableActions }) => tableActions[action]));
  }

  /** Says in which language the code at the caret is; empty: in none. */
  setLanguage(language: string): void {
    this.command(setLanguage(language));
  }

  /** Turns the selected blocks into what a toolbar choice says (see CHOICES). */
  turnInto(choice: string): void {
    const command = choiceCommand(choice);
    if (command !== null) this.command(this.whole(command));
  }

  /** Makes the selected text a link, or the link at the caret another; null takes it away. */
  setLink(href: string | null): void {
    this.command(this.whole(setLink(href)));
  }

  /** Takes one of what the menu behind a slash offers. */
  choose(place: number): void {
    choose(this.view, place);
    this.view.focus();
  }

  private command(command: Command): void {
    command(this.view.state, (transaction) => this.view.dispatch(transaction), this.view);
    this.view.focus();
  }

  focus(): void {
    this.view.focus();
  }

  /** So much of what the person has done is not in the text yet. */
  get doing(): number {
    return doingIn(this.view);
  }

  /** Of that, the texts. */
  get unread(): readonly Draft[] {
    return unread(this.view);
  }

  /** Puts text at the end of the document, one block a line; whether it is there. */
  appendText(text: string): boolean {
    const { doc, tr } = this.view.state;
    const { content } = parseText(`\n${text}`, doc.resolve(0));
    tr.insert(doc.content.size, content);
    tr.setSelection(TextSelection.near(tr.doc.resolve(doc.content.size + content.size), -1));
    this.view.dispatch(tr.scrollIntoView());
    return this.view.state.doc !== doc;
  }

  /** Puts a text in at the caret; whether it is there: what is not loaded is not replaced. */
  putText(text: string): boolean {
    const { doc } = this.view.state;
    this.view.focus();
    this.view.pasteText(text);
    return this.view.state.doc !== doc;
  }

  destroy(): void {
    this.model.onView = null;
    this.viewport.stop();
    this.view.destroy();
    this.callbacks.pictures?.destroy();
  }

  /**
   * Takes over what the browser has done to the caret and the text: it tells this a moment later,
   * and what comes in between would be done at the old place. Call it before the model changes.
   */
  readSelection(): void {
    if (this.view.composing || !this.view.hasFocus()) return;
    this.view.dom.ownerDocument.dispatchEvent(new Event("selectionchange"));
  }

  /** While an input method is at work in a block, nobody else changes it. */
  private hold(): boolean {
    this.model.hold(blockIdAt(this.view.state.selection.$head));
    return false;
  }

  private release(): void {
    if (this.view.isDestroyed || this.view.composing) return;
    this.readSelection();
    this.model.hold(null);
    this.setWritable(this.isWritable);
  }

  private load(ids: readonly string[]): void {
    for (const id of ids.slice(0, NEEDED_MAX)) void this.model.show(id).catch(() => undefined);
    this.callbacks.notLoaded();
  }

  /** What is not all here is not copied in part: it is loaded, and the person tries again. */
  private refuseCopy(event: Event): boolean {
    const missing = missingIn(this.view.state);
    if (missing.length === 0) return false;
    event.preventDefault();
    this.load(missing);
    return true;
  }

  /** The command, which does nothing by halves: what is selected is loaded first. */
  private whole(command: Command): Command {
    return (state, dispatch, view) => {
      const missing = missingIn(state);
      if (missing.length === 0) return command(state, dispatch, view);
      this.load(missing);
      return true;
    };
  }

  /** Shows what others did. */
  private show(event: ViewEvent): void {
    this.undoing.others(event);
    const blank = this.blank ?? randomId();
    this.showBy(remoteTransaction(this.view.state, event, blank), event, blank);
    this.callbacks.othersDid?.(event);
  }

  private showBy(transaction: Transaction, { after }: ViewEvent, blank: string): void {
    this.view.dispatch(transaction);
    this.blank = after.blocks.length === 0 ? blank : null;
    this.carets?.draw();
  }

  /** Shows what the person has taken back; the model has it already. */
  private showTaken(event: ViewEvent, spots: Spots | null, taken: Taken): void {
    const blank = this.blank ?? randomId();
    this.showBy(taken(this.view.state, event, blank, spots), event, blank);
    this.reportCaret(this.view.hasFocus());
    this.callbacks.edited();
  }

  private dispatch(transaction: Transaction): void {
    const before = this.view.state;
    const { state, transactions } = before.applyTransaction(transaction);
    const isChanged = state.doc !== before.doc;
    const changed = isChanged ? changedChildren(before.doc, state.doc) : null;
    const ends = endsOf(state);
    // Before the editor scrolls there.
    this.viewport?.unfold(...ends.map((index) => (changed ? indexBefore(changed, index) : index)));
    this.view.updateState(state);
    const isRemote = transaction.getMeta(REMOTE) === true;
    if (changed !== null) {
      this.viewport?.changed(changed);
      this.viewport?.unfold(...ends);
      if (!isRemote) this.sendChanges(before, transactions, changed);
    }
    this.tellSurroundings();
    this.tellMenu();
    this.finder?.tell();
    // What others do moves a caret's place in a table by whole cells, or takes its block away.
    const [was, now] = [before, state].map(({ selection }) => blockAt(selection.$head));
    const isMoved = now?.type === tableType || now?.attrs.id !== was?.attrs.id;
    if (isRemote ? isMoved : transaction.selectionSet || transaction.docChanged) {
      const along = before.selection.map(transaction.doc, transaction.mapping);
      this.reportCaret(this.view.hasFocus(), !isMoved && along.eq(state.selection));
    }
  }

  /** Tells the model what the person did. */
  private sendChanges(state: EditorState, by: readonly Transaction[], changed: Changed): void {
    const now = this.view.state;
    const isWhole = this.blank !== null;
    if (isWhole && isBlank(now.doc)) return;
    this.blank = null;
    const all = { from: 0, oldTo: 0, newTo: now.doc.childCount, position: 0 };
    const own = isWhole ? all : changed;
    const again = this.undoing.again(state, by, now);
    const verbs = again.verbs ?? ownVerbs(now, this.model.value.blocks, own);
    if (verbs.length > 0) {
      this.undoing.did(verbs, own.from, own.oldTo, state, by[0] as Transaction);
      this.model.change([...verbs, ...again.letters]);
    }
    const { value } = this.model;
    if (!isSettled(state.doc, this.view.state.doc, value.blocks, own)) {
      this.show({ changes: null, before: value, after: value });
    }
    this.callbacks.edited();
  }

  private tellSurroundings(): void {
    this.callbacks.surroundings(surroundingsOf(this.view.state));
  }

  private tellMenu(): void {
    const menu = slashMenu(this.view.state);
    if (menu === null) {
      if (this.isMenuOpen) this.callbacks.offered(null);
    } else {
      this.callbacks.offered({ menu, box: this.view.coordsAtPos(menu.from) });
    }
    this.isMenuOpen = menu !== null;
  }

  private reportCaret(isFocused: boolean, isCarried = false): boolean {
    const caret = isFocused ? this.placeOfCaret() : null;
    const nowhere = { block: null, anchor: 0, head: 0 };
    this.callbacks.caretMoved(caret ?? nowhere, caret !== null && isCarried);
    return false;
  }

  private placeOfCaret(): Caret | null {
    const { $anchor, $head } = this.view.state.selection;
    if (blockAt($head) === null || !$head.parent.isTextblock) return null;
    const first = $anchor.parent.isTextblock ? blockAt($anchor) : null;
    const [head, anchor] = [$head, first === null ? $head : $anchor].map(($end) => {
      const place = { block: blockIdAt($end), offset: textPlace($end) };
      return named(this.model, place) ?? { ...place, version: null };
    }) as [NamedPlace, NamedPlace];
    const { block, version } = head;
    const isWithin = anchor.block === block;
    const caret = { block, anchor: anchor.offset, head: head.offset, version };
    const start = { start: isWithin ? null : anchor.block };
    return { ...caret, ...(isWithin ? start : { ...start, startVersion: anchor.version }) };
  }
}
