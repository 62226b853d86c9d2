/** Why a document is not here, or not any more, in words. */

import { type Problem, problemText } from "../problem";
import { stoppedWords } from "../words/stopped";

export function stoppedText({ code, message }: Problem, wasOpen: boolean): string {
  if (code === "forbidden") return wasOpen ? stoppedWords.noReader : stoppedWords.missing;
  return code === "no_such_document" ? stoppedWords.missing : problemText(code, message);
}
