/**
 * Code points and UTF-16.
 *
 * Positions on the wire and in the model count Unicode code points; JavaScript strings and
 * ProseMirror count UTF-16 units. They differ only in texts that hold surrogate pairs, so the
 * common case is one test of the string.
 */

const SURROGATES = /[\ud800-\udfff]/;
const FORBIDDEN = /[\0\r]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether the text may not travel: it holds U+0000, a carriage return or a lone surrogate. */
export function isForbidden(text: string): boolean {
  return FORBIDDEN.test(text);
}

/** The text with everything that may not travel taken out: line ends become line feeds. */
export function cleanText(text: string): string {
  if (!isForbidden(text)) return text;
  return text
    .replace(/\r\n?/g, "\n")
    .replaceAll("\0", "")
    .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

/** The length of the text in code points. */
export function codePointLength(text: string): number {
  if (!SURROGATES.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** The UTF-16 offset of a code point position; positions behind the end give the length. */
export function toUnits(text: string, position: number): number {
  if (!SURROGATES.test(text)) return Math.min(position, text.length);
  let units = 0;
  for (let left = position; left > 0 && units < text.length; left -= 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return units;
}

/** The code point position of a UTF-16 offset; inside a pair it is the pair's start. */
export function toCodePoints(text: string, units: number): number {
  if (!SURROGATES.test(text)) return Math.min(units, text.length);
  let position = 0;
  for (let at = 0; at < Math.min(units, text.length); position += 1) {
    const step = (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
    if (at + step > units) break;
    at += step;
  }
  return position;
}

/** The part between two code point positions, to the end when `to` is left out. */
export function slice(text: string, from: number, to?: number): string {
  const start = toUnits(text, from);
  return to === undefined ? text.slice(start) : text.slice(start, toUnits(text, to));
}
