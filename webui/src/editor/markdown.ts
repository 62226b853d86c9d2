/** Markdown while typing: a sign and a space at the start of a paragraph make it another block. */

import { InputRule, inputRules } from "prosemirror-inputrules";
import { type Plugin, TextSelection } from "prosemirror-state";
import { turnInto } from "./commands";
import { blockType, type Kind, kindOf } from "./schema";

type More = (match: RegExpMatchArray) => Record<string, unknown>;

function rule(pattern: RegExp, kind: Kind, more: More = () => ({})): InputRule {
  return new InputRule(pattern, (state, match, start, end) => {
    const $start = state.doc.resolve(start);
    const from = kindOf($start.parent);
    const isFree = from === "paragraph" || (from === "bullet" && kind === "todo");
    if (!isFree || $start.parentOffset > 0) return null;
    return turnInto(state.tr.delete(start, end), $start.before(1), kind, more(match));
  });
}

/** Three hyphens make a line across, and the caret goes on below it. */
const divider = new InputRule(/^---$/, (state, _match, start, end) => {
  const $start = state.doc.resolve(start);
  if (kindOf($start.parent) !== "paragraph") return null;
  const transaction = turnInto(state.tr.delete(start, end), $start.before(1), "divider");
  const behind = transaction.mapping.map($start.after(1));
  if (behind === transaction.doc.content.size) transaction.insert(behind, blockType.create());
  return transaction.setSelection(TextSelection.create(transaction.doc, behind + 1));
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
    ],
  });
}
