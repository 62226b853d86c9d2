/** Why an operation of a place does nothing; the codes of groupcore/shared/places/refusals.py. */

export type RefusalCode =
  | "bad_thing"
  | "no_such_thing"
  | "thing_exists"
  | "not_here"
  | "thing_locked"
  | "thing_held"
  | "thing_busy"
  | "cell_full"
  | "bad_action"
  | "not_member"
  | "bad_path";

export class PlaceRefusal extends Error {
  /** `holder`: of a thing that somebody else has grabbed, who. */
  constructor(
    readonly code: RefusalCode,
    readonly holder = "",
  ) {
    super(code);
  }
}
