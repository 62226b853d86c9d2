/** What is said of moving blocks. */

import { area } from "../language";

export const moveWords = area("move", {
  handle: "Drag to move; Alt with the arrows does the same",
});
