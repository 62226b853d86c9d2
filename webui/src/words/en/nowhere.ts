/** What is said at an address where nothing is. */

import { area } from "../language";

export const nowhereWords = area("nowhere", {
  check: "Nothing has this address. Look whether it was typed or copied whole.",
  title: "There is nothing here",
});
