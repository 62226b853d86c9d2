/** Something that a page asks of the server on the person's behalf: busy, done, or why not. */

import { ApiError } from "../api";
import { commonWords } from "../words/common";

export class Work {
  isBusy = $state(false);
  problem = $state<string | null>(null);
  /** What was done, said aloud. */
  said = $state("");

  /** Does it unless something is under way; whether it was done. */
  async run(act: () => Promise<void>, done = ""): Promise<boolean> {
    if (this.isBusy) return false;
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
    }
  }
}

export function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : commonWords.wentWrong;
}
