/**
 * The sentences that the audit writes on a violation, by their kinds.
 *
 * tests/scripts/test_found_kinds.py compares them with those of `pipeline/transforms`.
 */

import type { foundWords } from "./found";

/** The forms: `%d` stands for a number, `%s` for a name. */
export const FORMS: Readonly<Record<keyof typeof foundWords, string>> = {
  delivered_again: "number %d of the group was delivered before",
  delivered_behind: "number %d is delivered behind number %d",
  numbers_missing: "numbers %d to %d of the group are missing before this one",
  state_not_taken: "the node delivers a group whose state it has not taken, or has released",
  behind_leaving: "%s was given this behind its LEAVE",
  behind_its_effect:
    "%s was given this behind a message that was sent with knowledge of its frame %d",
  behind_later_one: "%s was given this behind a later one of its sequencer",
  behind_one_of_frame: "%s was given this behind a later one of its frame",
  other_than_stamped: "it is not what its sequencer stamped: %s",
  not_stamped: "no sequencer has stamped it",
  other_change: "the change is not what its sequencer stamped",
  other_archived: "what came out of an archive is not what was stamped",
  both_number: "in epoch %d both %s and %s number the group",
  given_behind: "number %d is given behind number %d",
  epoch_begins: "epoch %d begins at %d behind number %d",
  given_again: "epoch %d gives number %d again",
  another_is_due: "message %d of %s is due, it is message %d",
  delivery_behind: "delivery %d stands behind delivery %d",
  refused_elsewhere: "%s has refused number %d as %s, this node has not",
  other_members: "view %d has other members than at %s",
  view_behind: "view %d is installed behind view %d",
  behind_the_cut: "the stream ended at frame %d, this is of frame %d",
  rows_twice: "%s: rows of %s are there twice",
  rows_missing: "%s: rows %d to %d of %s, epoch %d, are missing before or in it",
};
