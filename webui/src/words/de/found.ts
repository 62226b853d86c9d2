import type english from "../en/found";
import type { Translation } from "../language";

export default {
  delivered_again: (one) => `Nummer ${one} der Gruppe wurde schon einmal ausgeliefert.`,
  delivered_behind: (one, two) => `Nummer ${one} wird hinter Nummer ${two} ausgeliefert.`,
  numbers_missing: (one, two) => `Die Nummern ${one} bis ${two} der Gruppe fehlen vor dieser.`,
  state_not_taken:
    "Der Knoten liefert eine Gruppe aus, deren Stand er nicht übernommen oder wieder abgegeben hat.",
  behind_leaving: (one) => `${one} bekam dies, nachdem es die Gruppe verlassen hatte.`,
  behind_its_effect: (one, two) =>
    `${one} bekam dies hinter einer Nachricht, deren Absender den Frame ${two} dieser schon kannte.`,
  behind_later_one: (one) => `${one} bekam dies hinter einer späteren desselben Sequencers.`,
  behind_one_of_frame: (one) => `${one} bekam dies hinter einer späteren desselben Frames.`,
  other_than_stamped: (one) =>
    `Es ist nicht, was sein Sequencer gestempelt hat; anders ist: ${one}.`,
  not_stamped: "Kein Sequencer hat es gestempelt.",
  other_change: "Die Änderung ist nicht, was ihr Sequencer gestempelt hat.",
  other_archived: "Was aus einem Archiv kam, ist nicht, was gestempelt wurde.",
  both_number: (one, two, three) =>
    `In Epoche ${one} nummerieren sowohl ${two} als auch ${three} die Gruppe.`,
  given_behind: (one, two) => `Nummer ${one} wird hinter Nummer ${two} vergeben.`,
  epoch_begins: (one, two, three) => `Epoche ${one} beginnt mit ${two} hinter Nummer ${three}.`,
  given_again: (one, two) => `Epoche ${one} vergibt Nummer ${two} noch einmal.`,
  another_is_due: (one, two, three) =>
    `An der Reihe ist Nachricht ${one} von ${two}, es ist aber Nachricht ${three}.`,
  delivery_behind: (one, two) => `Auslieferung ${one} steht hinter Auslieferung ${two}.`,
  refused_elsewhere: (one, two, three) =>
    `${one} hat Nummer ${two} als ${three} abgelehnt, dieser Knoten nicht.`,
  other_members: (one, two) => `Sicht ${one} hat andere Mitglieder als bei ${two}.`,
  view_behind: (one, two) => `Sicht ${one} wird hinter Sicht ${two} eingesetzt.`,
  behind_the_cut: (one, two) => `Der Strom endete mit Frame ${one}, dies ist aus Frame ${two}.`,
  rows_twice: (one, two) => `${one}: Zeilen von ${two} sind doppelt da.`,
  rows_missing: (one, two, three, four, five) =>
    `${one}: Die Zeilen ${two} bis ${three} von ${four}, Epoche ${five}, fehlen davor oder darin.`,
} satisfies Translation<typeof english>;
