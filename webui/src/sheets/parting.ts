/** The end of a document that is open over a place: what is on its way is saved first. */

import type { DocumentController } from "../controller";

/** So long it is waited for; then it is kept, and sent by the next page of the document. */
const PATIENCE_MS = 5_000;
const LOOK_MS = 50;

export type Parting = Pick<DocumentController, "state" | "close" | "hide">;

/** Closes it once all is saved, or cannot be now. */
export function finished(
  paper: Parting,
  after: (delay_ms: number, act: () => void) => unknown,
  left_ms = PATIENCE_MS,
): void {
  paper.hide(); // what waits is written to the store, whatever comes
  const isOnItsWay = paper.state.problem === null && paper.state.save.kind === "saving";
  if (!isOnItsWay || left_ms <= 0) paper.close();
  else after(LOOK_MS, () => finished(paper, after, left_ms - LOOK_MS));
}
