/**
 * The board: view, selection, tool and own changes of one person, over a place.
 *
 * It knows nothing of elements and events; `gestures.ts` and the page tell it what is done, and draw
 * what it shows.
 */

import type { Box } from "../../place/squares";
import type { Thing, Value } from "../../place/thing";
import { byOrder, inSight } from "../draw/sight";
import type { NotDone, PlaceView } from "../live/place-view";
import { makeTool } from "../tools/all";
import {
  type Desk,
  type Doing,
  IDLE,
  type Maker,
  type Press,
  type Tool,
  type ToolName,
} from "../tools/tool";
import { followers, isArrow, type Things } from "./arrows";
import { Camera, NARROW_EDGES } from "./camera";
import { boxOfAll, type Frame, frameOf, type Point } from "./geometry";
import { type Handle, handlesOf } from "./handles";
import { holderAt, topAt } from "./hit";
import { copiesOf, type Look } from "./make";
import { difference, isNothing, OwnChanges, type Step, type Wish, wishFor } from "./own-changes";
import { documentOf } from "./settings";
import { plainStyle, type Style } from "./style";

/** What the page hears of the board. */
export interface BoardListener {
  /** Something of the picture is another one. */
  changed(): void;
  /** The person is to write into a thing. */
  write(thing: Thing, isNew: boolean): void;
  notDone(reason: NotDone): void;
  /** The drag under way has been lost to who was first. */
  lost(reason: NotDone): void;
}

/** What a press does to things that act. */
export interface Hands {
  /** Whether a press at this point does something beside selecting. */
  isUsedAt(thing: Thing, at: Point): boolean;
  useAt(thing: Thing, at: Point): void;
  /** The usual of what the thing can do; whether there is such a thing. */
  use(thing: Thing): boolean;
}

const NO_HANDS: Hands = { isUsedAt: () => false, useAt: () => undefined, use: () => false };

/** Screens so wide have their tools above. */
const NARROW = 768;
/** Pixels: so near to a line counts as on it. */
const NEAR = { mouse: 6, pen: 8, touch: 14 } as const;

export class Board implements Desk {
  camera = new Camera(0, 0, 1);
  toolName: ToolName = "select";
  /** The tool stays when it has made something. */
  isToolKept = false;
  isSnapping = true;
  /** What the board shows is what the person sees: not while they are in the room. */
  isWatching = true;
  mayWrite = true;
  /** What the tool for things that act makes. */
  maker: Maker | null = null;
  doing: Doing = IDLE;
  pointer = "default";
  editing: string | null = null;
  private tool: Tool;
  private ids: readonly string[] = [];
  private readonly own = new OwnChanges();
  private readonly looks: Record<string, Partial<Style>> = {};
  private held: readonly string[] = [];
  /** How often things had been handed over that one has deleted. */
  private readonly hops = new Map<string, number>();
  private steady: { readonly things: Things; readonly seen: Things } | null = null;
  private sight: readonly Thing[] | null = null;
  private last: Camera = this.camera;

  constructor(
    readonly place: PlaceView,
    private readonly listener: BoardListener,
    private readonly others: { drafts(things: Things): readonly Thing[] } = { drafts: () => [] },
    private readonly hands: Hands = NO_HANDS,
  ) {
    this.tool = makeTool("select", this);
    place.onChange = () => this.refresh();
  }

  // --- what is shown --------------------------------------------------------------------------

  /** With what is being dragged or drawn. */
  get things(): Things {
    return this.place.things;
  }

  /** As it would be behind what is under way, here and with others. */
  get seen(): Things {
    const { things } = this;
    const { drafts } = this.doing;
    const theirs = this.others.drafts(things);
    if (drafts.size === 0 && theirs.length === 0) return things;
    if (this.steady?.things !== things) {
      const seen = new Map([...things, ...theirs.map((thing) => [thing.id, thing] as const)]);
      for (const [id, thing] of drafts) seen.set(id, thing);
      this.steady = { things, seen };
    }
    return this.steady.seen;
  }

  get drawn(): readonly Thing[] {
    const { seen, camera } = this;
    this.sight ??= inSight(seen.values(), seen, camera.box).sort(byOrder);
    return this.sight;
  }

  /** Others show something else. */
  refresh(): void {
    this.sight = null;
    this.steady = null;
    const { things } = this;
    if (this.ids.some((id) => !things.has(id))) this.ids = this.ids.filter((id) => things.has(id));
    this.listener.changed();
  }

  get chosen(): readonly Thing[] {
    const { seen } = this;
    return this.ids.flatMap((id) => seen.get(id) ?? []);
  }

  /** Around what is selected; null: nothing is, or an arrow alone, whose ends are taken. */
  get frame(): Frame | null {
    const { chosen } = this;
    const [only] = chosen;
    if (only === undefined) return null;
    if (chosen.length === 1) return isArrow(only) ? null : only;
    const box = boxOfAll(chosen);
    return box === null ? null : frameOf(box);
  }

  get handles(): readonly Handle[] {
    const { frame } = this;
    const isFixed = !this.mayWrite || this.chosen.some(({ locked }) => locked);
    if (frame === null || isFixed || this.toolName !== "select") return [];
    return handlesOf(frame, this.camera.step);
  }

  near(press: Press): number {
    return NEAR[press.kind] * this.camera.step;
  }

  topAt(press: Press): Thing | null {
    return topAt(this.drawn, press.at, this.near(press), this.seen);
  }

  holderAt(press: Press, is: (thing: Thing) => boolean): Thing | null {
    return holderAt(this.drawn, press.at, this.near(press), is);
  }

  isUsedAt(thing: Thing, at: Point): boolean {
    return this.hands.isUsedAt(thing, at);
  }

  useAt(thing: Thing, at: Point): void {
    this.hands.useAt(thing, at);
  }

  /** What a second press opens does not get written into. */
  open(thing: Thing): void {
    if (documentOf(thing) !== null) this.hands.use(thing);
    else this.write(thing.id);
  }

  get nextOrder(): number {
    let most = 0;
    for (const { order } of this.things.values()) most = Math.max(most, order);
    return most + 1;
  }

  // --- the view -------------------------------------------------------------------------------

  look(camera: Camera): void {
    if (camera.width === 0) return;
    this.camera = camera;
    this.sight = null;
    const [dx, dy] = [camera.x - this.last.x, camera.y - this.last.y];
    const view = { box: rounded(camera.box), dx: Math.round(dx), dy: Math.round(dy) };
    if (this.isWatching) this.place.view(view);
    this.last = camera;
    this.listener.changed();
  }

  pan(dx: number, dy: number): void {
    this.look(this.camera.panned(dx, dy));
  }

  /** All that there is, or what is selected, is brought into sight. */
  fit(isChosen = false): void {
    const { chosen } = this;
    const here = boxOfAll([...this.things.values()]);
    const all = joinedWith(this.place.bounds, here);
    const box = isChosen && chosen.length > 0 ? boxOfAll(chosen) : all;
    if (box !== null)
      this.look(this.camera.fitting(box, this.camera.width < NARROW ? NARROW_EDGES : undefined));
    else this.look(this.camera.zoomed(1).centred({ x: 0, y: 0 }));
  }

  show(doing: Partial<Doing>): void {
    this.doing = { ...this.doing, ...doing };
    this.sight = null;
    this.steady = null;
    this.listener.changed();
  }

  cursor(name: string): void {
    if (name === this.pointer) return;
    this.pointer = name;
    this.listener.changed();
  }

  // --- tools ----------------------------------------------------------------------------------

  take(name: ToolName, isKept = false): void {
    this.tool.cancel();
    this.doing = IDLE;
    this.toolName = name;
    this.isToolKept = isKept;
    this.tool = makeTool(name, this);
    this.pointer = this.tool.cursor;
    this.sight = null;
    this.listener.changed();
  }

  /** Takes the tool that puts such a thing. */
  takeMaker(maker: Maker, isKept = false): void {
    this.maker = maker;
    this.take("acting", isKept);
  }

  finished(): void {
    if (!this.isToolKept) this.take("select");
  }

  down(press: Press): void {
    this.tool.down(press);
  }

  move(press: Press): void {
    this.tool.move(press);
  }

  up(press: Press): void {
    this.tool.up(press);
  }

  hover(press: Press): void {
    this.tool.hover?.(press);
  }

  cancel(): void {
    this.tool.cancel();
  }

  // --- selection ------------------------------------------------------------------------------

  select(ids: readonly string[]): void {
    this.ids = [...new Set(ids)];
    this.listener.changed();
  }

  get selected(): readonly string[] {
    return this.ids;
  }

  write(id: string): void {
    const thing = this.things.get(id);
    if (thing !== undefined && this.mayWrite && !thing.locked) this.listener.write(thing, false);
  }

  writeNew(thing: Thing): void {
    this.listener.write(thing, true);
  }

  // --- looks ----------------------------------------------------------------------------------

  lookOf(kind: string): Look {
    return { ...this.looks[kind] } as Record<string, Value>;
  }

  styleFor(kind: string): Style {
    return { ...plainStyle(kind), ...this.looks[kind] };
  }

  /** What is selected looks so, and what is made next. */
  restyle(kinds: readonly string[], look: Partial<Style>): void {
    for (const kind of kinds) this.looks[kind] = { ...this.looks[kind], ...look };
    const changed = this.chosen.filter(({ locked }) => !locked);
    const after = changed.map((thing) => {
      const known = new Map(thing.style);
      for (const [name, value] of Object.entries(look)) known.set(name, value);
      return { ...thing, style: [...known].sort(([one], [other]) => (one < other ? -1 : 1)) };
    });
    if (after.length > 0) this.change(after);
    this.listener.changed();
  }

  // --- own changes ----------------------------------------------------------------------------

  put(things: readonly Thing[]): void {
    this.step({ before: [], after: things });
  }

  change(after: readonly Thing[]): void {
    const { things } = this;
    const wanted = new Map(after.map((thing) => [thing.id, thing]));
    const all = [...after, ...followers(things, wanted)];
    const changed = all.filter((thing) => {
      const was = things.get(thing.id);
      return was !== undefined && difference(was, thing).length > 0;
    });
    const before = changed.map(({ id }) => things.get(id) as Thing);
    if (changed.length > 0) this.step({ before, after: changed });
  }

  remove(ids: readonly string[]): void {
    const { things } = this;
    const before = ids.flatMap((id) => things.get(id) ?? []).filter(({ locked }) => !locked);
    if (before.length > 0) this.step({ before, after: [] });
  }

  /** Copies, moved by so much, which are selected then. */
  copyBy(things: readonly Thing[], dx: number, dy: number): void {
    const copies = copiesOf(things, dx, dy, this.nextOrder);
    this.put(copies);
    this.select(copies.map(({ id }) => id));
  }

  private step(step: Step): void {
    this.own.note(step);
    const known = new Set(step.before.map(({ id }) => id));
    const puts = step.after.filter(({ id }) => !known.has(id));
    // What is done now is done to what one sees: only taking it back looks whether others did more.
    const { edits, deletions } = wishFor(step, this.things);
    const plain = edits.map((edit) => ({ ...edit, expected: [] }));
    const gone = deletions.map(([id]) => [id, -1] as const);
    this.ask({ puts, edits: plain, deletions: gone }, step);
  }

  private ask(wish: Wish, step: Step): void {
    if (isNothing(wish)) return;
    for (const [id] of wish.deletions) this.hops.set(id, this.things.get(id)?.hops ?? 0);
    this.place.wish(wish).catch((reason: NotDone) => {
      this.own.forget(step);
      this.listener.notDone(reason);
    });
  }

  get mayUndo(): boolean {
    return this.own.mayUndo && this.mayWrite;
  }

  get mayRedo(): boolean {
    return this.own.mayRedo && this.mayWrite;
  }

  undo(): void {
    this.goBack(this.own.undo());
  }

  redo(): void {
    this.goBack(this.own.redo());
  }

  private goBack(step: Step | null): void {
    if (step === null || !this.mayWrite) return;
    const wish = wishFor(step, this.things);
    // Cells take a thing again that was handed over more often than the one that was deleted.
    const puts = wish.puts.map((thing) => {
      return { ...thing, hops: Math.max(thing.hops, (this.hops.get(thing.id) ?? 0) + 1) };
    });
    this.ask({ ...wish, puts }, step);
    this.select(step.after.map(({ id }) => id).filter((id) => this.things.has(id)));
  }

  // --- holding --------------------------------------------------------------------------------

  grab(ids: readonly string[], lost: () => void): void {
    this.held = ids;
    this.place.grab(ids).then(
      () => {
        // It was over before it began.
        if (this.held !== ids) this.place.release(ids);
      },
      (reason: NotDone) => {
        if (this.held !== ids) return;
        lost();
        this.listener.lost(reason);
      },
    );
  }

  release(): void {
    const { held } = this;
    this.held = [];
    if (held.length > 0) this.place.release(held);
  }

  close(): void {
    this.place.onChange = null;
    this.place.close();
  }
}

function rounded([left, top, right, bottom]: Box): Box {
  return [Math.floor(left), Math.floor(top), Math.ceil(right), Math.ceil(bottom)];
}

function joinedWith(one: Box | null, other: Box | null): Box | null {
  if (one === null || other === null) return one ?? other;
  return [
    Math.min(one[0], other[0]),
    Math.min(one[1], other[1]),
    Math.max(one[2], other[2]),
    Math.max(one[3], other[3]),
  ];
}
