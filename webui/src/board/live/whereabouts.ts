/** Where the person is in the place, for faces that come and go: their feet, and what they go to next. */

import type { Box } from "../../place/squares";
import type { Nimbus, Stance } from "./others";

export class Whereabouts {
  /** Where they stand, or have stood last, in the room. */
  stance: Stance | null = null;
  /** What they see from there; null: they are on another face. */
  aura: Box | null = null;
  /** How far they hear and are heard in the room. */
  nimbus: Nimbus = "";
  /** What the board is to show when it is shown next; null: what it has shown last. */
  spot: Box | null = null;
  /** Brings them to a part of the place while another face than the board is shown. */
  goes: ((view: Box) => void) | null = null;

  get avatar(): Stance | null {
    return this.aura === null ? null : this.stance;
  }
}
