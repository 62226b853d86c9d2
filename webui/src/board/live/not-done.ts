import { boardWords } from "../../words/board";
import type { NotDone } from "./place-view";

/** What people read where something was not done. */
export function notDoneText({ code }: NotDone): string {
  switch (code) {
    case "thing_locked":
    case "thing_busy":
    case "no_such_thing":
    case "cell_full":
    case "bad_thing":
      return boardWords[code];
    case "thing_held":
      return boardWords.held;
    default:
      return boardWords.notDone;
  }
}
