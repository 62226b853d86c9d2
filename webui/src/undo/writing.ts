/** Edits of the texts that the history looks at: letters get names, and go without being lost. */

import type { Spot } from "../shared/anchor";
import {
  cutRich,
  isFormat,
  isInsert,
  type MarkPatch,
  marksOf,
  type Rich,
  type RichDelta,
  richLength,
} from "../shared/rich";
import { foundAgain, type Gained, type Lost, stretchOf } from "./again";
import { smallest } from "./common";
import { Letters } from "./letters";
import type { Note } from "./note";
import { OwnText, partOf, type Run, written } from "./text";

const NONE: ReadonlySet<number> = new Set();

export class Writing {
  private origins = 0;
  /** The run that was written last, and its length. */
  private growing = { origin: 0, length: 0 };

  /** Texts that others have taken out, and put in, in what is told now. */
  private lost: Lost[] = [];
  private gained: Gained[] = [];
  /** Whether what is told now has texts that go, and such that come. */
  isMixed = false;
  /** Whether it is that own edits were refused. */
  private isRefused = false;

  /** The next thing is told. */
  begin(isMixed: boolean, isRefused = false): void {
    this.isMixed = isMixed;
    this.isRefused = isRefused;
    this.lost = [];
    this.gained = [];
  }

  /** All is told: what has only gone to another place has the letters that it had. */
  end(texts: Iterable<OwnText>): void {
    const { lost, gained } = this;
    this.begin(false);
    if (gained.length === 0) return;
    const found = foundAgain(lost, gained);
    const origins = new Set(gained.map(({ origin }) => origin));
    const resolved = (run: Run, passed: ReadonlySet<number>): readonly Run[] => {
      const { origin, from, length } = run;
      if (!origins.has(origin)) return [run];
      const runs = found.get(origin);
      if (runs === undefined || passed.has(origin)) return [{ ...run, origin: 0, from: 0 }];
      const seen = new Set([...passed, origin]);
      return stretchOf(runs, from, from + length).flatMap((one) => resolved(one, seen));
    };
    for (const text of texts) text.map((run) => resolved(run, NONE));
  }

  /** All of a text goes; `isTold`: it goes on in what comes. */
  lose(text: OwnText, content: Rich, isTold = false): void {
    if (content.length > 0) this.lost.push({ content, runs: text.all, isTold });
  }

  /** A text that others have put in; `isMixed`: it may be one that was somewhere else. */
  gain(content: Rich): OwnText | null {
    if (!this.isMixed || content.length === 0) return null;
    return new OwnText([this.come(content)]);
  }

  private come(content: Rich): Run {
    const run = this.name(written(0, 0, richLength(content)));
    this.gained.push({ origin: run.origin, content });
    return run;
  }

  private name(run: Run): Run {
    if (run.origin > 0) return run;
    this.origins += 1;
    return { ...run, origin: this.origins, from: 0 };
  }

  /**
   * An edit of a text that was `content`; one's own is taken down in `note`. `sourceOf`: where the nodes
   * have letters of that text.
   */
  edit(
    text: OwnText,
    delta: RichDelta,
    content: Rich,
    note: Note | null,
    sourceOf: (offset: number, count: number) => Spot | null = () => null,
  ): void {
    let place = 0;
    let old = 0;
    for (const item of smallest(delta, content, note !== null)) {
      if (isInsert(item)) {
        const length = richLength([item]);
        const isBack = note === null && this.isRefused && text.showAgain(place, [item]);
        if (note === null && this.isMixed && !isBack) text.put(place, [this.come([item])]);
        else if (!isBack) this.write(text, place, length, note);
        place += length;
      } else if (isFormat(item)) {
        if (note !== null) this.mark(text, place, item, cutRich(content, old, old + item[0]), note);
        place += item[0];
        old += item[0];
      } else if (item < 0) {
        const letters = cutRich(content, old, old - item);
        const out: Run[] = [];
        const start = old;
        text.change(place, -item, (run, far) => {
          if (note !== null) {
            const source = sourceOf(start + far, run.length);
            const one = { ...this.name(run), source };
            return hidden(one, cutRich(letters, far, far + run.length), note);
          }
          out.push(run);
          return [];
        });
        if (note === null) this.lost.push({ content: letters, runs: out });
        old -= item;
      } else {
        place += item;
        old += item;
      }
    }
  }

  private write(text: OwnText, place: number, length: number, note: Note | null): void {
    const { growing } = this;
    if (note === null) {
      const isNobodys = (run: Run): boolean => run.origin === 0 && run.mark === null;
      text.insert(place, written(0, 0, length), (before) =>
        isNobodys(before) ? { ...before, length: before.length + length } : null,
      );
      return;
    }
    let isLonger = false;
    const grown = (before: Run): Run | null => {
      const { origin, from, hidden } = before;
      isLonger = origin > 0 && origin === growing.origin && hidden === null;
      isLonger &&= from + before.length === growing.length;
      return isLonger ? { ...before, length: before.length + length } : null;
    };
    const fresh = this.name(written(0, 0, length));
    text.insert(place, fresh, grown);
    const { origin, from } = isLonger ? { origin: growing.origin, from: growing.length } : fresh;
    this.growing = { origin, length: from + length };
    note.text.shown.add(origin, from, from + length);
  }

  private mark(
    text: OwnText,
    place: number,
    [, patch]: readonly [number, MarkPatch],
    content: Rich,
    note: Note,
  ): void {
    for (const [name, now] of Object.entries(patch)) {
      let at = place;
      for (const item of content) {
        const length = richLength([item]);
        const before = marksOf(item)[name] ?? null;
        if (before !== now) {
          const letters = this.named(text, at, length);
          note.add({ kind: "mark", letters, name, before, now });
        }
        at += length;
      }
    }
  }

  /** The letters of a stretch, put into a set. */
  named(text: OwnText, place: number, length: number, letters = new Letters()): Letters {
    text.change(place, length, (run) => {
      const one = this.name(run);
      letters.add(one.origin, one.from, one.from + one.length);
      return [one];
    });
    return letters;
  }
}

/** A run that an own edit takes out: what it has written itself leaves nothing behind. */
function hidden(run: Run, content: Rich, note: Note): Run[] {
  const { shown, hidden } = note.text;
  const runs: Run[] = [];
  for (const { from, to, isIn } of shown.divide(run.origin, run.from, run.from + run.length)) {
    if (isIn) continue;
    const part = partOf(run, from - run.from, to - run.from);
    runs.push({ ...part, hidden: cutRich(content, from - run.from, to - run.from) });
    hidden.add(run.origin, from, to);
  }
  return runs;
}
