/** What the rules of the order demand, in words. */

import { locale } from "../words/language";
import { rulesWords } from "../words/rules";

/** A name, a colon, and what is demanded; of a rule without words here what the audit says. */
function ruleText(rule: string, said: string): string {
  switch (rule) {
    case "gap":
      return rulesWords.gap;
    case "duplicate":
      return rulesWords.duplicate;
    case "late":
      return rulesWords.late;
    case "not_hosted":
      return rulesWords.not_hosted;
    case "causal":
      return rulesWords.causal;
    case "strict":
      return rulesWords.strict;
    case "in_frame":
      return rulesWords.in_frame;
    case "content":
      return rulesWords.content;
    case "phantom":
      return rulesWords.phantom;
    case "after_leave":
      return rulesWords.after_leave;
    case "two_sequencers":
      return rulesWords.two_sequencers;
    case "numbering":
      return rulesWords.numbering;
    case "floor":
      return rulesWords.floor;
    case "fifo":
      return rulesWords.fifo;
    case "view":
      return rulesWords.view;
    case "view_order":
      return rulesWords.view_order;
    case "view_synchrony":
      return rulesWords.view_synchrony;
    case "verdict":
      return rulesWords.verdict;
    case "delivery_numbers":
      return rulesWords.delivery_numbers;
    case "missing_records":
      return rulesWords.missing_records;
    default:
      return said;
  }
}

/** What people call it. */
export function ruleName(rule: string): string {
  return ruleText(rule, rule).split(":")[0] ?? rule;
}

/** What it demands, as a sentence. */
export function ruleDemand(rule: string, said: string): string {
  const text = ruleText(rule, said);
  const demand = text.slice(text.indexOf(":") + 1).trim();
  return demand.charAt(0).toLocaleUpperCase(locale()) + demand.slice(1);
}
