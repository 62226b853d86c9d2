export default {
  delivered_again: (one: string) => `Number ${one} of the group was delivered before.`,
  delivered_behind: (one: string, two: string) =>
    `Number ${one} is delivered behind number ${two}.`,
  numbers_missing: (one: string, two: string) =>
    `Numbers ${one} to ${two} of the group are missing before this one.`,
  state_not_taken: "The node delivers a group whose state it has not taken, or has released.",
  behind_leaving: (one: string) => `${one} was given this behind its leaving.`,
  behind_its_effect: (one: string, two: string) =>
    `${one} was given this behind a message that was sent with knowledge of its frame ${two}.`,
  behind_later_one: (one: string) => `${one} was given this behind a later one of its sequencer.`,
  behind_one_of_frame: (one: string) => `${one} was given this behind a later one of its frame.`,
  other_than_stamped: (one: string) =>
    `It is not what its sequencer stamped; these differ: ${one}.`,
  not_stamped: "No sequencer has stamped it.",
  other_change: "The change is not what its sequencer stamped.",
  other_archived: "What came out of an archive is not what was stamped.",
  both_number: (one: string, two: string, three: string) =>
    `In epoch ${one} both ${two} and ${three} number the group.`,
  given_behind: (one: string, two: string) => `Number ${one} is given behind number ${two}.`,
  epoch_begins: (one: string, two: string, three: string) =>
    `Epoch ${one} begins at ${two} behind number ${three}.`,
  given_again: (one: string, two: string) => `Epoch ${one} gives number ${two} again.`,
  another_is_due: (one: string, two: string, three: string) =>
    `Message ${one} of ${two} is due, and it is message ${three}.`,
  delivery_behind: (one: string, two: string) => `Delivery ${one} stands behind delivery ${two}.`,
  refused_elsewhere: (one: string, two: string, three: string) =>
    `${one} has refused number ${two} as ${three}, and this node has not.`,
  other_members: (one: string, two: string) => `View ${one} has other members than at ${two}.`,
  view_behind: (one: string, two: string) => `View ${one} is installed behind view ${two}.`,
  behind_the_cut: (one: string, two: string) =>
    `The stream ended at frame ${one}, and this is of frame ${two}.`,
  rows_twice: (one: string, two: string) => `${one}: rows of ${two} are there twice.`,
  rows_missing: (one: string, two: string, three: string, four: string, five: string) =>
    `${one}: rows ${two} to ${three} of ${four}, epoch ${five}, are missing before it or in it.`,
};
