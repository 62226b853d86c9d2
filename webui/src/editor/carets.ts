/**
 * Where others are: their carets with names, and what they have selected.
 *
 * Of a long document only the blocks in and near the sight are looked at, and the editor draws
 * anew only when somebody there has moved.
 */

import type { Node } from "prosemirror-model";
import { Decoration, type DecorationSet, type EditorView } from "prosemirror-view";
import type { DocumentModel } from "../document/types";
import { colourOf, type Person } from "../people";
import { type Held, held, shownAt } from "./carets-held";
import { CARETS } from "./people";
import { toEditorPosition } from "./remote";
import "./carets.css";

/** Up to so many blocks the carets in all of them are drawn. */
const SHORT_BLOCKS = 200;
/** So many blocks above and below the sight, too. */
const MARGIN = 20;

interface Range {
  readonly first: number;
  readonly last: number;
}

type Shown = readonly Person[];

/** The people of one editor: who is to be drawn, and which blocks are in sight. */
export class Carets {
  private people: Shown = [];
  private range: Range = { first: 0, last: 0 };
  private places = new Map<string, Held>();

  /** `before`: called when something is to be drawn. */
  constructor(
    private readonly view: EditorView,
    private readonly model: DocumentModel,
    private readonly before: () => void,
  ) {}

  show(people: Shown): void {
    this.people = people;
    this.draw();
  }

  /** These blocks are in sight. */
  look(first: number, last: number): void {
    this.range = { first, last };
    this.draw();
  }

  /** Draws all where their letters are by now, as far as they are not drawn there. */
  draw(): void {
    if (this.isAsDrawn()) return;
    this.before();
    const { doc, tr } = this.view.state;
    const set = CARETS.getState(this.view.state) as DecorationSet;
    const places = this.seen();
    const standing = new Set(
      places.map(({ who }) => who).filter((who) => isDrawn(set, places, who)),
    );
    const others = set.find(undefined, undefined, ({ who }) => !standing.has(who));
    const fresh = places.filter(({ who }) => !standing.has(who));
    this.view.dispatch(tr.setMeta(CARETS, set.remove(others).add(doc, fresh.flatMap(drawn))));
  }

  private isAsDrawn(): boolean {
    const set = CARETS.getState(this.view.state);
    if (set === undefined || (this.people.length === 0 && set.find().length === 0)) return true;
    const places = this.seen();
    if (!places.every(({ who }) => isDrawn(set, places, who))) return false;
    return caretsIn(set).length === places.length;
  }

  private seen(): readonly Place[] {
    const people = this.people.map((person) => this.placed(person));
    const now = new Set(people.map(({ who }) => who));
    for (const who of this.places.keys()) if (!now.has(who)) this.places.delete(who);
    return seen(this.view.state.doc, people, this.range).map(({ person, from, node, anchor }) => ({
      who: person.who,
      person,
      anchor,
      head: toEditorPosition({ node, from }, person.head),
    }));
  }

  /** The person, where their letters are by now. */
  private placed(person: Person): Person {
    if (person.block === null) return person;
    const place = held(this.model, this.places.get(person.who), person);
    this.places.set(person.who, place);
    const [head, anchor] = [place.head, place.anchor].map((one) => shownAt(this.model, one));
    if (head === undefined || anchor === undefined) return person;
    const start = anchor.block === head.block ? null : anchor.block;
    return { ...person, block: head.block, head: head.offset, anchor: anchor.offset, start };
  }
}

/** Where somebody is in the editor. */
interface Place {
  readonly who: string;
  readonly person: Person;
  readonly anchor: number;
  readonly head: number;
}

/** Whether a person is drawn where they are, and under their name. */
function isDrawn(set: DecorationSet, places: readonly Place[], who: string): boolean {
  const place = places.find((one) => one.who === who);
  const all = set.find(undefined, undefined, (spec) => spec.who === who);
  const [caret] = all.filter(({ spec }) => spec.side);
  if (place === undefined || caret === undefined) return false;
  const { anchor, head, person } = place;
  if (caret.from !== head || caret.spec.name !== person.name) return false;
  const ends = all.filter(({ spec }) => !spec.side).flatMap(({ from, to }) => [from, to]);
  const wanted = anchor === head ? [] : [Math.min(anchor, head), Math.max(anchor, head)];
  return `${ends}` === `${wanted}`;
}

interface Seen {
  readonly person: Person;
  readonly node: Node;
  /** Position right before the node. */
  readonly from: number;
  /** The other end of what is selected, as far as that is near the sight. */
  readonly anchor: number;
}

/** A block, and the position right before it. */
type Block = Pick<Seen, "node" | "from">;

/** Those whose carets are in blocks in or near the sight, with these blocks. */
function seen(doc: Node, people: Shown, range: Range): readonly Seen[] {
  const wanted = new Map<string, Person[]>();
  for (const person of people) {
    if (person.block === null) continue;
    const others = wanted.get(person.block);
    if (others === undefined) wanted.set(person.block, [person]);
    else others.push(person);
  }
  const found: (Block & { readonly person: Person })[] = [];
  if (wanted.size === 0) return [];
  const starts = new Map<string, Block | null>();
  for (const { start } of people) if (start != null) starts.set(start, null);
  const isShort = doc.childCount <= SHORT_BLOCKS;
  const first = isShort ? 0 : Math.max(0, range.first - MARGIN);
  const last = Math.min(doc.childCount - 1, isShort ? doc.childCount : range.last + MARGIN);
  let from = 0;
  let begin = 0;
  for (let index = 0; index <= last; index += 1) {
    const node = doc.child(index);
    if (index < first && starts.size === 0) {
      from += node.nodeSize;
      continue;
    }
    const id = String(node.attrs.id);
    if (index === first) begin = from;
    if (index >= first && !node.isAtom) {
      for (const person of wanted.get(id) ?? []) found.push({ person, node, from });
    }
    if (starts.has(id)) starts.set(id, { node, from });
    from += node.nodeSize;
  }
  // Of one that is behind what was looked at, all up to there is selected; one that is gone has none.
  const isAll = last === doc.childCount - 1;
  return found.map((place) => {
    const { start, anchor, head } = place.person;
    if (start == null) return { ...place, anchor: toEditorPosition(place, anchor) };
    const other = starts.get(start) ?? null;
    if (other === null) return { ...place, anchor: isAll ? toEditorPosition(place, head) : from };
    const at = other.node.isAtom ? other.from : toEditorPosition(other, anchor);
    return { ...place, anchor: Math.max(begin, at) };
  });
}

function caretsIn(set: DecorationSet): Decoration[] {
  return set.find(undefined, undefined, ({ side }) => side); // what is selected has none
}

function drawn({ who, person, anchor, head }: Place): Decoration[] {
  const { name } = person;
  const colour = `person-${colourOf(who)}`;
  const caret = Decoration.widget(head, () => drawCaret(name, colour), {
    key: `${who} ${name}`,
    who,
    name,
    side: -1, // it stays left of what is inserted at it
    ignoreSelection: true,
  });
  if (anchor === head) return [caret];
  const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)];
  return [Decoration.inline(from, to, { class: `remote-selection ${colour}` }, { who }), caret];
}

function drawCaret(name: string, colour: string): HTMLElement {
  const caret = document.createElement("span");
  caret.className = `remote-caret ${colour}`;
  caret.dataset.testid = "remote-caret";
  // CSS shows the name: a text in the page could be taken for the document's when the browser
  // itself edits around it.
  caret.dataset.name = name;
  caret.setAttribute("aria-hidden", "true");
  return caret;
}
