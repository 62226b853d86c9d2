/**
 * Markdown while typing: a sign and a space at the start of a paragraph make it another block, and
 * signs around words mark them.
 */

import { InputRule, inputRules } from "prosemirror-inputrules";
import type { Plugin } from "prosemirror-state";
import { drawDivider, turnInto } from "./commands";
import { markType } from "./marks";
import { isSafeLink, type SimpleMark } from "./rich";
import { type BlockType, typeOf } from "./schema";

type More = (match: RegExpMatchArray) => Record<string, unknown>;

function rule(pattern: RegExp, type: BlockType, more: More = () => ({})): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const $start = state.doc.resolve(start);
    if ($start.depth !== 1) return null;
    const from = typeOf($start.parent);
    const isFree = from === "paragraph" || (type === "todo" && /bullet|todo/.test(from));
    if (!isFree || $start.parentOffset > 0) return null;
    return turnInto(state.tr.delete(start, end), $start.before(1), type, more(match));
  });
}

/** Three hyphens or asterisks make a line across, and the caret goes on below it. */
const divider = new InputRule(/^(?:---|\*\*\*)$/, (state, _match, start, end) => {
  const $start = state.doc.resolve(start);
  if ($start.depth !== 1 || typeOf($start.parent) !== "paragraph") return null;
  return drawDivider(state.tr.delete(start, end), $start.before(1));
});

/** Whoever is used to type a space behind the three signs gets none at the start of what follows. */
const behindDivider = new InputRule(/^ $/, (state, _match, start) => {
  const $start = state.doc.resolve(start);
  if ($start.depth !== 1 || typeOf($start.parent) !== "paragraph") return null;
  const above = state.doc.maybeChild($start.index(0) - 1) ?? null;
  return above !== null && typeOf(above) === "divider" ? state.tr : null;
});

/** Words between two signs; what stands before the first sign is the first group of the pattern. */
function markRule(pattern: RegExp, name: SimpleMark): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const [, before = "", sign = "", words = ""] = match;
    const opening = start + before.length;
    const inner = opening + sign.length;
    const isCode = state.doc.rangeHasMark(opening, end, markType("code"));
    if (isCode || typeOf(state.doc.resolve(start).parent) === "code") return null;
    const mark = markType(name).create();
    return state.tr
      .delete(inner + words.length, end)
      .delete(opening, inner)
      .addMark(opening, opening + words.length, mark)
      .removeStoredMark(mark);
  });
}

/** `[words](address)` */
const link = new InputRule(/\[([^\]]+)\]\(([^\s()]+)\)$/, (state, match, start, end) => {
  const [, words = "", href = ""] = match;
  if (!isSafeLink(href) || typeOf(state.doc.resolve(start).parent) === "code") return null;
  const mark = markType("link").create({ href });
  return state.tr
    .delete(start + 1 + words.length, end)
    .delete(start, start + 1)
    .addMark(start, start + words.length, mark)
    .removeStoredMark(mark);
});

/** The plugin with all rules. */
export function markdownPlugin(): Plugin {
  return inputRules({
    rules: [
      rule(/^(#{1,6})\s$/, "heading", (match) => ({ level: match[1]?.length ?? 1 })),
      rule(/^\[([ xX]?)\]\s$/, "todo", (match) => ({ checked: /x/i.test(match[1] ?? "") })),
      rule(/^[-*+]\s$/, "bullet"),
      rule(/^\d{1,9}[.)]\s$/, "numbered"),
      rule(/^>\s$/, "quote"),
      rule(/^```([A-Za-z0-9_+#-]{0,40})\s$/, "code", (match) => ({ language: match[1] || null })),
      divider,
      behindDivider,
      markRule(/(^|[^*])(\*\*)([^\s*](?:[^*]*[^\s*])?)\*\*$/, "bold"),
      markRule(/(^|[^\w_])(__)([^\s_](?:[^_]*[^\s_])?)__$/, "bold"),
      markRule(/(^|[^*])(\*)([^\s*](?:[^*]*[^\s*])?)\*$/, "italic"),
      markRule(/(^|[^\w_])(_)([^\s_](?:[^_]*[^\s_])?)_$/, "italic"),
      markRule(/(^|[^~])(~~)([^\s~](?:[^~]*[^\s~])?)~~$/, "strike"),
      markRule(/(^|[^`])(`)([^`]+)`$/, "code"),
      link,
    ],
  });
}
