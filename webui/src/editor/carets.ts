/**
 * Where others are: their carets with names, and what they have selected.
 *
 * Of a long document only the blocks in and near the sight are looked at, and the editor draws
 * anew only when somebody there has moved.
 */

import type { Node } from "prosemirror-model";
import { Plugin, PluginKey } from "prosemirror-state";
import { Decoration, DecorationSet, type EditorView } from "prosemirror-view";
import { colourOf, type Person } from "../people";
import { toEditorPosition } from "./remote";

/** Up to so many blocks the carets in all of them are drawn. */
const SHORT_BLOCKS = 200;
/** So many blocks above and below the sight, too. */
const MARGIN = 20;

interface Drawn {
  readonly people: readonly Person[];
  readonly set: DecorationSet;
}

interface Range {
  readonly first: number;
  readonly last: number;
}

type Shown = Drawn["people"];

const CARETS = new PluginKey<Drawn>("carets");

/** The plugin that draws people; they move along with the text until they show another place. */
export function caretsPlugin(): Plugin<Drawn> {
  return new Plugin<Drawn>({
    key: CARETS,
    state: {
      init: () => ({ people: [], set: DecorationSet.empty }),
      apply: (transaction, shown) => {
        const next = transaction.getMeta(CARETS) as Drawn | undefined;
        if (next !== undefined) return next;
        if (!transaction.docChanged || shown.people.length === 0) return shown;
        return { ...shown, set: shown.set.map(transaction.mapping, transaction.doc) };
      },
    },
    props: { decorations: (state) => CARETS.getState(state)?.set },
  });
}

/** The people of one editor: who is to be drawn, and which blocks are in sight. */
export class Carets {
  private people: Shown = [];
  private range: Range = { first: 0, last: 0 };

  /** `before`: called when something is to be drawn. */
  constructor(
    private readonly view: EditorView,
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

  /** The text is another one: who was in what was put in anew, or has come, is drawn there. */
  draw(): void {
    const { state } = this.view;
    const shown = CARETS.getState(state);
    if (shown === undefined || (this.people.length === 0 && shown.people.length === 0)) return;
    const found = seen(state.doc, this.people, this.range);
    const people = found.map(({ person }) => person);
    if (isSame(people, shown.people) && isWhole(shown)) return;
    this.before();
    const now = this.view.state.doc;
    const places = now === state.doc ? found : seen(now, this.people, this.range);
    const before = CARETS.getState(this.view.state) as Drawn;
    const next: Drawn = {
      people: places.map(({ person }) => person),
      set: redrawn(before, now, places),
    };
    const transaction = this.view.state.tr.setMeta(CARETS, next);
    this.view.dispatch(transaction);
  }
}

/** The same with these people: who shows no other place stays where the text has brought them. */
function redrawn({ set }: Drawn, doc: Node, places: readonly Seen[]): DecorationSet {
  const wanted = new Set(places.map(({ person }) => person));
  const drawn = caretsIn(set).map(({ spec }) => spec.person as Person);
  const standing = new Set(drawn.filter((person) => wanted.has(person)));
  const others = set.find(undefined, undefined, ({ person }) => !standing.has(person));
  const fresh = places.filter(({ person }) => !standing.has(person));
  return set.remove(others).add(
    doc,
    fresh.flatMap((place) => draw(place, place.person)),
  );
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
type Place = Pick<Seen, "node" | "from">;

/** Those whose carets are in blocks in or near the sight, with these blocks. */
function seen(doc: Node, people: Shown, range: Range): readonly Seen[] {
  const wanted = new Map<string, Person[]>();
  for (const person of people) {
    if (person.block === null) continue;
    const others = wanted.get(person.block);
    if (others === undefined) wanted.set(person.block, [person]);
    else others.push(person);
  }
  const found: (Place & { readonly person: Person })[] = [];
  if (wanted.size === 0) return [];
  const starts = new Map<string, Place | null>();
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

function isSame(some: Shown, others: Shown): boolean {
  return some.length === others.length && some.every((one, place) => one === others[place]);
}

/** What is put in anew loses what was drawn in it. */
function isWhole({ people, set }: Drawn): boolean {
  return caretsIn(set).length === people.length;
}

function caretsIn(set: DecorationSet): Decoration[] {
  return set.find(undefined, undefined, ({ side }) => side); // what is selected has none
}

function draw(found: Seen, person: Person): Decoration[] {
  const { anchor } = found;
  const head = toEditorPosition(found, person.head);
  const colour = `person-${colourOf(person.who)}`;
  const key = `${person.who} ${person.name} ${person.block} ${person.head}`;
  const caret = Decoration.widget(head, () => drawCaret(person.name, colour), {
    key,
    person,
    side: 1,
    ignoreSelection: true,
  });
  if (anchor === head) return [caret];
  const [from, to] = [Math.min(anchor, head), Math.max(anchor, head)];
  return [Decoration.inline(from, to, { class: `remote-selection ${colour}` }, { person }), caret];
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
