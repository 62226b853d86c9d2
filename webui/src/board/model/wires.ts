/** Which switches light which lamps: how they are shown, made and taken away. */

import { LINKS_MAX } from "../../place/limits";
import { type Thing, withProps } from "../../place/thing";
import type { Things } from "./arrows";
import type { Point } from "./geometry";
import { isOn } from "./settings";
import { lampsOf } from "./states";

export interface Wire {
  readonly from: Point;
  readonly to: Point;
  readonly isLive: boolean;
}

/** The wires of what is selected: of switches to their lamps, of lamps to what lights them. */
export function wiresOf(chosen: readonly Thing[], things: Things): Wire[] {
  const ids = new Set(chosen.map(({ id }) => id));
  const isLamp = chosen.some(({ kind }) => kind === "light");
  const switches = isLamp
    ? [...things.values()].filter(({ kind }) => kind === "switch")
    : chosen.filter(({ kind }) => kind === "switch");
  return switches.flatMap((one) => {
    const lamps = lampsOf(one, things).filter(({ id }) => ids.has(one.id) || ids.has(id));
    return lamps.map((lamp) => ({ from: one, to: lamp, isLive: isOn(one) }));
  });
}

/** What "Connect" does with what is selected. */
export interface Wiring {
  /** All are connected already: it takes the wires away. */
  readonly isConnected: boolean;
  readonly changed: readonly Thing[];
  /** A switch has no room for so many. */
  readonly isTooMany: boolean;
}

/** null: there are no switch and lamp among them, or they may not be changed. */
export function wiringOf(chosen: readonly Thing[]): Wiring | null {
  const lamps = chosen.filter(({ kind }) => kind === "light");
  const switches = chosen.filter(({ kind, locked }) => kind === "switch" && !locked);
  if (lamps.length === 0 || switches.length === 0) return null;
  const ids = lamps.map(({ id }) => id);
  const isConnected = switches.every(({ links }) => ids.every((id) => links.includes(id)));
  const changed = switches.map((one) => {
    const others = one.links.filter((id) => !ids.includes(id));
    return { ...one, links: isConnected ? others : [...others, ...ids] };
  });
  const isTooMany = changed.some(({ links }) => links.length > LINKS_MAX);
  const ready = isConnected ? [] : lamps.flatMap(lightable);
  return { isConnected, changed: [...changed, ...ready], isTooMany };
}

/** A lamp without the property `on` is passed over by switches: it gets it. */
export function lightable(lamp: Thing): Thing[] {
  const isReady = lamp.locked || lamp.props.some(([name]) => name === "on");
  return isReady ? [] : [withProps(lamp, { on: false })];
}
