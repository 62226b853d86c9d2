/** What all parts of the scene have of it. */

import type { Things } from "../../board/model/arrows";

export interface Surroundings {
  /** How sharp pictures are that are seen from aside. */
  readonly anisotropy: number;
  /** All things of the place that are here. */
  readonly things: Things;
}
