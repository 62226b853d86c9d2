/** Where words stand in a text, behind what is done to that. */

import {
  isFormat,
  isInsert,
  type RichDelta,
  type RichInsert,
  richLength,
  transformRichPosition,
} from "../shared/rich";

/** In code points. */
export type Stretch = readonly [from: number, to: number];

/** What an edit inserts, and where it stands then. */
export function insertsIn(delta: RichDelta): readonly (readonly [...Stretch, RichInsert])[] {
  let at = 0;
  return delta.flatMap((item) => {
    const from = at;
    if (!isInsert(item)) {
      at += Math.max(0, isFormat(item) ? item[0] : item);
      return [];
    }
    at += richLength([item]);
    return [[from, at, item] as const];
  });
}

/** Behind an edit, or, where it was cut, of what is left of it; null: nothing is. */
export function stretchBehind([from, to]: Stretch, by: RichDelta | number): Stretch | null {
  const [begin, end] =
    typeof by === "number"
      ? [from, Math.min(to, by)]
      : [transformRichPosition(from, by, "right"), transformRichPosition(to, by, "left")];
  return begin < end ? [begin, end] : null;
}
