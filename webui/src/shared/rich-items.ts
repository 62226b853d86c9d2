/** What rich texts and deltas are made of; `rich.ts` has the algebra. */

export type MarkValue = string | number | boolean;
export type Marks = Readonly<Record<string, MarkValue>>;
export type MarkPatch = Readonly<Record<string, MarkValue | null>>;
export type RichInsert = string | readonly [string, Marks];
export type RichFormat = readonly [number, MarkPatch];
export type RichItem = number | RichInsert | RichFormat;
export type RichDelta = readonly RichItem[];
export type Rich = readonly RichInsert[];

/** The code point that an embed is. */
export const EMBED = "\ufffc";
export const NO_MARKS: Marks = {};

export function isInsert(item: RichItem): item is RichInsert {
  return typeof item === "string" || (typeof item === "object" && typeof item[0] === "string");
}

export function isFormat(item: RichItem): item is RichFormat {
  return typeof item === "object" && typeof item[0] === "number";
}

/** The text of an insert. */
export function textOf(item: RichInsert): string {
  return typeof item === "string" ? item : item[0];
}

/** The marks of an insert. */
export function marksOf(item: RichInsert): Marks {
  return typeof item === "string" ? NO_MARKS : item[1];
}

export function sameMarks(one: MarkPatch, other: MarkPatch): boolean {
  if (one === other) return true;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => Object.hasOwn(other, name) && one[name] === other[name]);
}

export function hasMarks(marks: MarkPatch): boolean {
  for (const _ in marks) return true;
  return false;
}

/** Collects items in any order and gives the canonical delta. */
export class RichBuilder {
  private readonly items: RichItem[] = [];
  private runs: [string, Marks][] = [];
  private deleted = 0;

  /** Keeps the next `count` code points, with these changes of marks. */
  retain(count: number, changes: MarkPatch = NO_MARKS): void {
    if (count === 0) return;
    this.flush();
    const last = this.items.at(-1);
    if (hasMarks(changes)) {
      if (last !== undefined && isFormat(last) && sameMarks(last[1], changes)) {
        this.items[this.items.length - 1] = [last[0] + count, changes];
      } else {
        this.items.push([count, changes]);
      }
    } else if (typeof last === "number" && last > 0) {
      this.items[this.items.length - 1] = last + count;
    } else {
      this.items.push(count);
    }
  }

  insert(text: string, marks: Marks = NO_MARKS): void {
    if (text === "") return;
    const last = this.runs.at(-1);
    if (last !== undefined && sameMarks(last[1], marks)) last[0] += text;
    else this.runs.push([text, marks]);
  }

  delete(count: number): void {
    this.deleted += count;
  }

  put(item: RichItem): void {
    if (isInsert(item)) this.insert(textOf(item), marksOf(item));
    else if (isFormat(item)) this.retain(item[0], item[1]);
    else if (item > 0) this.retain(item);
    else this.delete(-item);
  }

  finish(): RichDelta {
    this.flush();
    let { length } = this.items;
    for (; length > 0; length -= 1) {
      const last = this.items[length - 1];
      if (typeof last !== "number" || last < 0) break;
    }
    return length < this.items.length ? this.items.slice(0, length) : this.items;
  }

  private flush(): void {
    for (const [text, marks] of this.runs) this.items.push(hasMarks(marks) ? [text, marks] : text);
    if (this.runs.length > 0) this.runs = [];
    if (this.deleted > 0) this.items.push(-this.deleted);
    this.deleted = 0;
  }
}

/** How much of the text before the edit the item covers, in code points. */
export function span(item: RichItem): number {
  if (typeof item === "number") return Math.abs(item);
  return isFormat(item) ? item[0] : 0;
}

/** The marks after the changes. */
export function marked(marks: Marks, changes: MarkPatch): Marks {
  if (!hasMarks(changes)) return marks;
  const merged: Record<string, MarkValue> = {};
  for (const [name, value] of Object.entries({ ...marks, ...changes })) {
    if (value !== null) merged[name] = value;
  }
  return merged;
}
