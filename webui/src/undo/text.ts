/**
 * The text of a block as the history knows it: what is shown, and in between, where it stood, what
 * own edits have taken out.
 *
 * Rules.
 *   T1  The letters keep their order. To take an edit back is to show letters, or not to.
 *   T2  What comes in at a place comes right behind the letter before it, so in front of all that
 *       is not shown there.
 *   T3  What others take out is out, and so cannot be shown again by oneself.
 *   T4  What an own edit took out that is refused stands again, and is not to be shown once more.
 */

import type { Spot } from "../shared/anchor";
import { cutRich, type Rich } from "../shared/rich";
import { lettersOf } from "./common";

/** A mark where a caret was: as an anchor that holds on to the left, it stays left of what comes there. */
export class CaretMark {}

/** Letters that were written at once, or a mark between letters. Never changed in place. */
export interface Run {
  /** Names its letters; 0: nobody asks for them by name. */
  readonly origin: number;
  /** The first letter, of those of `origin`. */
  readonly from: number;
  /** In code points; of a mark 0. */
  readonly length: number;
  /** The letters, while they are not shown. */
  readonly hidden: Rich | null;
  /** Where the nodes had the letters when they were taken out; null: not known, or they are shown. */
  readonly source: Spot | null;
  /** A place between letters that goes along with them: a caret, or where two texts meet. */
  readonly mark: object | null;
}

export function written(origin: number, from: number, length: number): Run {
  return { origin, from, length, hidden: null, source: null, mark: null };
}

/** What is seen of it, in code points. */
export function seenOf({ hidden, length }: Run): number {
  return hidden === null ? length : 0;
}

/** A part of a run; places are counted from its start. */
export function partOf(run: Run, from: number, to: number): Run {
  const hidden = run.hidden && cutRich(run.hidden, from, to);
  const source = run.source && { ...run.source, offset: run.source.offset + from };
  return { ...run, from: run.from + from, length: to - from, hidden, source };
}

export class OwnText {
  /** Its text as it was seen last, while it is not here. */
  last: Rich | null = null;

  constructor(private runs: Run[]) {}

  static of(length: number): OwnText {
    return new OwnText(length > 0 ? [written(0, 0, length)] : []);
  }

  /** In code points, of what is shown. */
  get length(): number {
    return this.runs.reduce((sum, run) => sum + seenOf(run), 0);
  }

  get all(): readonly Run[] {
    return this.runs;
  }

  /** The index of the run that begins at the place (T2). */
  private index(place: number): number {
    let left = place;
    for (let at = 0; at < this.runs.length; at += 1) {
      if (left === 0 && !(this.runs[at]?.mark instanceof CaretMark)) return at;
      const run = this.runs[at] as Run;
      const seen = seenOf(run);
      if (seen > left) {
        this.runs.splice(at, 1, partOf(run, 0, left), partOf(run, left, seen));
        return at + 1;
      }
      left -= seen;
    }
    return this.runs.length;
  }

  /** Puts a run in, or what `joined` makes of it with the one before. */
  insert(place: number, run: Run, joined?: (before: Run) => Run | null): void {
    const at = this.index(place);
    const before = this.runs[at - 1];
    const one = before === undefined ? null : (joined?.(before) ?? null);
    if (one === null) this.runs.splice(at, 0, run);
    else this.runs[at - 1] = one;
  }

  put(place: number, runs: readonly Run[]): void {
    this.runs.splice(this.index(place), 0, ...runs);
  }

  /** T4: shows letters that are hidden at a place, if this text is in there; whether it is. */
  showAgain(place: number, content: Rich): boolean {
    const start = this.index(place);
    const seen = this.runs.slice(start).findIndex((run) => seenOf(run) > 0);
    const runs = this.runs.slice(start, seen < 0 ? this.runs.length : start + seen);
    const keys = (text: Rich): string[] => lettersOf(text, true).map(({ key }) => key);
    const all = runs.flatMap(({ hidden }) => keys(hidden ?? []));
    const wanted = keys(content);
    const first = all.findIndex((_, at) => wanted.every((key, far) => all[at + far] === key));
    if (first < 0) return false;
    let far = first;
    const now = runs.flatMap((run) => {
      const ends = [0, far, far + wanted.length, run.length].map((end) =>
        Math.min(Math.max(0, end), run.length),
      );
      far -= run.length;
      if (run.hidden === null) return [run];
      return [0, 1, 2].flatMap((at) => {
        const part = partOf(run, ends[at] as number, ends[at + 1] as number);
        if (part.length === 0) return [];
        return at === 1 ? { ...part, hidden: null, source: null } : part;
      });
    });
    this.runs.splice(start, runs.length, ...now);
    return true;
  }

  append(runs: readonly Run[]): void {
    this.runs.push(...runs);
  }

  /** Puts others in place of the shown runs of a stretch; `change` is told how far in each begins. */
  change(place: number, count: number, change: (run: Run, far: number) => readonly Run[]): void {
    let at = this.index(place);
    for (let far = 0; far < count; ) {
      const run = this.runs[at];
      if (run === undefined) throw new RangeError("the text ends before");
      const seen = seenOf(run);
      if (seen > count - far) {
        this.runs.splice(at, 1, partOf(run, 0, count - far), partOf(run, count - far, seen));
        continue;
      }
      const now = seen === 0 ? [run] : change(run, far);
      this.runs.splice(at, 1, ...now);
      at += now.length;
      far += seen;
    }
  }

  /** Puts others in place of all runs; `change` is told where each stands. */
  map(change: (run: Run, place: number) => readonly Run[]): void {
    let place = 0;
    this.runs = this.runs.flatMap((run) => {
      const now = change(run, place);
      place += seenOf(run);
      return now;
    });
  }

  /** Where a mark stands; null: not in this text. */
  placeOf(mark: object): number | null {
    let place = 0;
    for (const run of this.runs) {
      if (run.mark === mark) return place;
      place += seenOf(run);
    }
    return null;
  }

  /** What stands behind a place goes. */
  cut(place: number): Run[] {
    return this.runs.splice(this.index(place));
  }

  /** What stands behind a mark goes. */
  cutBehind(mark: object): Run[] {
    return this.runs.splice(this.runs.findIndex((run) => run.mark === mark) + 1);
  }
}

/** A mark as a run. */
export function markRun(mark: object): Run {
  return { ...written(0, 0, 0), mark };
}
