/** What a person has filled in about a thing, and the thing as it is to be. */

import { CHOICES_MAX, FACES_MAX } from "../../place/behaviours";
import { type Thing, type Value, withProps } from "../../place/thing";
import { settingsWords } from "../../words/settings";
import { choicesOf, cleanAddress, cleanPlace, LABELS_MAX, SECONDS_MAX } from "../model/settings";
import { units } from "../model/units";
import { voteHeight } from "../model/zones";

export interface Given {
  readonly text: string;
  readonly minutes: number | null;
  readonly seconds: number | null;
  readonly faces: number | null;
  /** One a line. */
  readonly choices: string;
  readonly form: string;
  readonly back: string;
  readonly href: string;
  readonly place: string;
  readonly document: string;
  readonly lamps: readonly string[];
  /** Of the place that a door leads to. */
  readonly title: string;
}

export interface Read {
  readonly thing: Thing;
  /** Why it cannot be so, in words; "": it can. */
  readonly problem: string;
}

export function readForm(before: Thing, given: Given): Read {
  const thing = { ...before, text: given.text.trim() };
  const set = (props: Record<string, Value>): Read => ({
    thing: withProps(thing, props),
    problem: "",
  });
  const no = (problem: string): Read => ({ thing: before, problem });
  switch (thing.kind) {
    case "timer": {
      const seconds = Math.round(Number(given.minutes ?? 0) * 60 + Number(given.seconds ?? 0));
      const isGood = seconds >= 1 && seconds <= SECONDS_MAX;
      return isGood ? set({ seconds }) : no(settingsWords.badLength);
    }
    case "dice": {
      const { faces } = given;
      const isGood = Number.isInteger(faces) && Number(faces) >= 2 && Number(faces) <= FACES_MAX;
      return isGood ? set({ faces: Number(faces) }) : no(settingsWords.badFaces);
    }
    case "vote":
      return voteOf(thing, given.choices, no);
    case "token":
      return set({ form: given.form, back: given.back.trim() });
    case "furniture":
      return set({ form: given.form });
    case "door":
      return doorOf(thing, given);
    case "card":
      return set({ document: given.document });
    case "link": {
      const href = given.href.trim() === "" ? "" : cleanAddress(given.href);
      return href === null ? no(settingsWords.badAddress) : set({ href });
    }
    case "switch":
      return { thing: { ...thing, links: [...given.lamps] }, problem: "" };
    default:
      return { thing, problem: "" };
  }
}

/** A vote grows by the choices that it gets; one that was made larger stays so. */
function voteOf(thing: Thing, text: string, no: (problem: string) => Read): Read {
  const labels = text
    .split("\n")
    .map((label) => label.trim())
    .filter((label) => label !== "");
  if (labels.length === 0) return no(settingsWords.noChoices);
  if (labels.length > CHOICES_MAX) return no(settingsWords.tooManyChoices(CHOICES_MAX));
  const joined = labels.join("\n");
  if ([...joined].length > LABELS_MAX) return no(settingsWords.tooLongChoices);
  const isUsual = thing.height === units(voteHeight(choicesOf(thing)));
  const height = Math.max(
    isUsual ? 0 : thing.height,
    units(voteHeight(Math.min(12, labels.length))),
  );
  // Its upper edge stays.
  const y = thing.y + Math.round((height - thing.height) / 2);
  const next = withProps(thing, { choices: labels.length, labels: joined });
  return { thing: { ...next, height, y }, problem: "" };
}

function doorOf(thing: Thing, { place, title }: Given): Read {
  const id = place === "" ? "" : (cleanPlace(place) ?? "");
  const text = thing.text === "" ? title : thing.text;
  return { thing: { ...withProps(thing, { place: id }), text }, problem: "" };
}
