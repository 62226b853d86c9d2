/** For whom the servers wait: asked of the node of the page, which says so though it does not serve. */

import { fields } from "../api";
import { timeOf } from "../words/dates";

export interface Awaited {
  readonly nodes: readonly string[];
  /** Since when, by this machine's clock, as a time to be read. */
  readonly since: string;
}

const PATIENCE_MS = 5_000;

/** Null: they wait for nobody, or the node does not answer. */
export async function askAwaited(now_ms = Date.now()): Promise<Awaited | null> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch("/livez?verbose", { signal, cache: "no-store" });
    const { awaits } = fields(await response.json());
    const { nodes, for_s } = fields(awaits);
    if (!Array.isArray(nodes) || nodes.length === 0) return null;
    const since_ms = now_ms - 1_000 * (typeof for_s === "number" ? for_s : 0);
    return { nodes: nodes.map(String), since: timeOf(since_ms, now_ms) };
  } catch {
    return null;
  }
}
