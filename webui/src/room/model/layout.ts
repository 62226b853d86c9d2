/** How what is seen is arranged in the room: what lies, hangs, stands and floats, and what is in the way. */

import { byOrder } from "../../board/draw/sight";
import type { Things } from "../../board/model/arrows";
import type { Box } from "../../place/squares";
import type { Thing } from "../../place/thing";
import { holderOf, isDrawn, isPanel, isRaised, mayHang, type Panel, panelsOf } from "./forms";
import { Solids } from "./solids";
import { type Tile, tilesOf } from "./tiles";

/** Drawings that float have a picture each. */
const FLOATING_MAX = 40;

export interface Layout {
  readonly tiles: ReadonlyMap<string, Tile>;
  readonly panels: readonly Panel[];
  /** By the panel's thing: what hangs there, those behind first. */
  readonly hung: ReadonlyMap<string, readonly Thing[]>;
  /** On which panel a thing hangs. */
  readonly holders: ReadonlyMap<string, Panel>;
  /** Nearest first. */
  readonly standing: readonly Thing[];
  readonly lying: readonly Thing[];
  /** Drawings over the floor. */
  readonly floating: readonly Thing[];
  readonly solids: Solids;
}

/** `seen`: nearest first; `moved`: what somebody carries or drags lies nowhere. */
export function layoutOf(
  seen: readonly Thing[],
  all: Things,
  moved: ReadonlySet<string>,
  around: Box,
): Layout {
  const still = seen.filter(({ id }) => !moved.has(id));
  const panels = panelsOf(still);
  const shown = new Set(panels.map(({ thing }) => thing.id));
  const hung = new Map<string, Thing[]>();
  const holders = new Map<string, Panel>();
  const [standing, lying, floating]: Thing[][] = [[], [], []];
  for (const thing of still) {
    if (shown.has(thing.id)) continue;
    const panel = mayHang(thing) ? holderOf(thing, panels) : null;
    if (panel !== null) {
      const known = hung.get(panel.thing.id);
      if (known === undefined) hung.set(panel.thing.id, [thing]);
      else known.push(thing);
      holders.set(thing.id, panel);
    } else if (!isDrawn(thing)) standing?.push(thing);
    else if (isRaised(thing) && (floating?.length ?? 0) < FLOATING_MAX) floating?.push(thing);
    else lying?.push(thing);
  }
  for (const things of hung.values()) things.sort(byOrder);
  const [stood, laid, floats] = [standing ?? [], lying ?? [], floating ?? []];
  const solids = new Solids(
    still.filter((one) => !isPanel(one) && !holders.has(one.id)),
    panels,
  );
  const tiles = tilesOf(laid, all, around);
  return { tiles, panels, hung, holders, standing: stood, lying: laid, floating: floats, solids };
}
