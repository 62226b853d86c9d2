/** Something that a page asks of the server on the person's behalf: busy, done, or why not. */

import { messageOf } from "../api";
import { holdFocus } from "./hold-focus";

export class Work {
  isBusy = $state(false);
  problem = $state<string | null>(null);
  /** What was done, said aloud. */
  said = $state("");

  /** Does it unless something is under way; whether it was done. */
  async run(act: () => Promise<void>, done = ""): Promise<boolean> {
    if (this.isBusy) return false;
    // Buttons are switched off meanwhile, also the one that was pressed.
    const giveFocusBack = holdFocus();
    this.isBusy = true;
    this.problem = null;
    this.said = "";
    try {
      await act();
      this.said = done;
      return true;
    } catch (error) {
      this.problem = messageOf(error);
      return false;
    } finally {
      this.isBusy = false;
      setTimeout(giveFocusBack); // when they are on again
    }
  }
}
