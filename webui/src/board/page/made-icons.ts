/** Signs of what the menu of more things makes. */

import type { Made } from "../model/make-acting";
import { ICONS } from "./icons";

export const MADE_ICONS: Readonly<Record<Made, string>> = {
  light: ICONS.light ?? "",
  switch: ICONS.switch ?? "",
  timer: ICONS.timer ?? "",
  clock: ICONS.clock ?? "",
  dice: ICONS.dice ?? "",
  vote: ICONS.vote ?? "",
  piece: "M12 4a3.2 3.2 0 1 1-2 5.7h4M9.5 9.7L7.5 17h9l-2-7.3M6 20h12",
  card: "M8 3.5h8A1.5 1.5 0 0 1 17.5 5v14a1.5 1.5 0 0 1-1.5 1.5H8A1.5 1.5 0 0 1 6.5 19V5A1.5 1.5 0 0 1 8 3.5zM12 9l2.2 3-2.2 3-2.2-3z",
  ball: ICONS.ball ?? "",
  door: ICONS.door ?? "",
  link: ICONS.link ?? "",
  document: ICONS.card ?? "",
  table: ICONS.furniture ?? "",
  round: "M12 6c4.7 0 8.5 1.8 8.5 4s-3.8 4-8.5 4-8.5-1.8-8.5-4S7.3 6 12 6zM12 14v5M8.5 19.5h7",
  chair: "M7.5 3.5v9M16.5 3.5v9M7.5 5.5h9M6.5 12.5h11v3h-11zM7.5 15.5v5M16.5 15.5v5",
  sofa: "M6 11V7.5A1.5 1.5 0 0 1 7.5 6h9A1.5 1.5 0 0 1 18 7.5V11M6 14v-1.5a1.7 1.7 0 1 0-3 1V18h18v-4.5a1.7 1.7 0 1 0-3-1V14zM5 18v2M19 18v2",
  shelf: "M5 4v16.5M19 4v16.5M5 6h14M5 11.5h14M5 17h14M8.5 6v5.5M11 6v5.5M14 11.5V17",
  plant:
    "M8.5 15.5h7l-1 5h-5zM12 15.5V9M12 11C8 11 6.5 8.5 6.5 5.5 10 5.5 12 7.5 12 11zM12 12.5c3.5 0 5-2 5-5-3 0-5 1.5-5 5",
  wall: "M3.5 6.5h17v11h-17zM3.5 12h17M9 6.5V12M15.5 6.5V12M6.5 12v5.5M12 12v5.5M17.5 12v5.5",
};
