/** What needs somebody's eye, in words. */

import { type Fields, textOf } from "../api";
import { consoleWords } from "../words/console";
import { listed } from "../words/formats";
import type { Alert } from "./overview";
import { each, numberOf, textsOf } from "./reading";

const SAYS: Readonly<Record<string, (about: Fields) => string>> = {
  node_silent: ({ node }) => consoleWords.nodeSilent(textOf(node)),
  node_away: ({ node }) => consoleWords.nodeAway(textOf(node)),
  nodes_missing: ({ members, wanted }) =>
    consoleWords.nodesMissing(numberOf(members), numberOf(wanted)),
  versions_differ: ({ versions }) => consoleWords.versionsDiffer(listed(textsOf(versions))),
  draining: ({ node }) => consoleWords.nodeDraining(textOf(node)),
  awaits: awaitsText,
  stale: ({ node }) => consoleWords.nodeStale(textOf(node)),
  disk_full: ({ node }) => consoleWords.diskFull(textOf(node)),
  rebuilding: ({ node }) => consoleWords.nodeRebuilding(textOf(node)),
  leaving: ({ node }) => consoleWords.nodeLeaving(textOf(node)),
  slow: ({ node, wait_ms }) => consoleWords.nodeSlow(textOf(node), numberOf(wait_ms)),
  busy: ({ node, cpu }) => consoleWords.nodeBusy(textOf(node), numberOf(cpu)),
  views_flap: ({ views, s, nodes }) =>
    consoleWords.viewsFlap(numberOf(views), numberOf(s) / 60, listed(each(nodes, timesOf))),
  starved: ({ node, seconds }) => consoleWords.nodeStarved(textOf(node), numberOf(seconds)),
  behind: ({ node, sessions }) => consoleWords.sessionsBehind(textOf(node), numberOf(sessions)),
  log_behind: ({ node, mib }) => consoleWords.logBehind(textOf(node), numberOf(mib)),
  nearly_full: ({ node, sessions, most }) =>
    consoleWords.nearlyFull(textOf(node), numberOf(sessions), numberOf(most)),
  pictures_missing: ({ node, pictures }) =>
    consoleWords.picturesMissing(textOf(node), numberOf(pictures)),
  certificate_ends: ({ node, days }) => consoleWords.certificateEnds(textOf(node), numberOf(days)),
  certificate_over: ({ node }) => consoleWords.certificateOver(textOf(node)),
  erasing: ({ node, documents }) => consoleWords.nodeErasing(textOf(node), numberOf(documents)),
  certificate_forged: () => consoleWords.certificateForged,
  order_broken: ({ violations }) => consoleWords.orderBroken(numberOf(violations)),
  keys_changing: ({ node }) => consoleWords.keysChanging(textOf(node)),
};

/** Who waits, for how many of whom, who of them is there, and what may be done about it. */
function awaitsText(about: Fields): string {
  const [nodes, here, empty, missing] = ["nodes", "here", "empty", "missing"].map((name) =>
    textsOf(about[name]),
  ) as [string[], string[], string[], string[]];
  const parts = [
    textOf(about.reason) === "bound"
      ? consoleWords.awaitsBound(listed(nodes), listed(missing))
      : awaitsQuorum(listed(nodes), about),
  ];
  if (here.length > 0) parts.push(consoleWords.awaitsHere(listed(here)));
  if (empty.length > 0) parts.push(consoleWords.awaitsEmpty(listed(empty)));
  if (missing.length > 0) parts.push(consoleWords.awaitsMissing(listed(missing)));
  parts.push(consoleWords.awaitsHint(here[0] ?? nodes[0] ?? ""));
  return parts.join(" ");
}

function awaitsQuorum(nodes: string, { members, needed, first }: Fields): string {
  const [enough, lowest] = [numberOf(needed), textOf(first)];
  let or = "";
  if (lowest !== "") {
    or =
      enough > 2
        ? consoleWords.awaitsFirst(enough - 1, lowest)
        : consoleWords.awaitsFirstAlone(lowest);
  }
  return consoleWords.awaits(nodes, listed(textsOf(members)), enough, or);
}

function timesOf({ node, times }: Fields): string {
  return consoleWords.timesOf(textOf(node), numberOf(times));
}

export function alertText({ code, about }: Alert): string {
  return SAYS[code]?.(about) ?? code;
}

/** Where there is more about it; null where nothing is. */
export function alertLink({
  code,
}: Alert): { readonly href: string; readonly text: string } | null {
  const isOfOrder = code === "certificate_forged" || code === "order_broken";
  return isOfOrder ? { href: "/admin/order", text: consoleWords.showAudit } : null;
}

export function healthText(health: string): string {
  if (health === "good") return consoleWords.healthGood;
  return health === "fair" ? consoleWords.healthFair : consoleWords.healthBad;
}

export function levelText(level: string): string {
  if (level === "bad") return consoleWords.levelBad;
  return level === "warn" ? consoleWords.levelWarn : consoleWords.levelNote;
}

/** How a node stands, in a word or two. */
export function stateText(state: string): string {
  switch (state) {
    case "serving":
      return consoleWords.serving;
    case "stale":
      return consoleWords.stale;
    case "readonly":
      return consoleWords.readonly;
    case "rebuilding":
      return consoleWords.rebuilding;
    case "draining":
      return consoleWords.leaving;
    default:
      return state;
  }
}
