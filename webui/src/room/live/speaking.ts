/** What is said of speaking to those near: who would hear it, why it was not said, who is quiet. */

import type { Nimbus, Person } from "../../board/live/others";
import type { Point } from "../../board/model/geometry";
import { CallError } from "../../client/errors";
import { roomWords } from "../../words/room";
import type { Companion } from "../model/company";
import { isHeard, reach } from "../model/earshot";

/** How many would hear who speaks there, in lengths of the place. */
export function audienceOf(people: readonly Person[], at: Point, nimbus: Nimbus): number {
  const said = { ...at, reach: reach(nimbus) };
  return people.filter(({ avatar, nimbus: theirs }) => {
    return avatar !== null && isHeard(said, avatar, theirs);
  }).length;
}

/** Why it was not said, in words; `without`: where there is no connection. */
export function whyNotSaid(error: unknown, without: string): string {
  const code = error instanceof CallError ? error.code : "";
  if (code === "busy") return roomWords.tooFast;
  return code === "forbidden" ? roomWords.mayNotSay : without;
}

/** What stands over somebody: their name, and whether they are quiet or speak to all. */
export function calledInRoom({ name, nimbus }: Companion): string {
  if (nimbus === "") return name;
  return nimbus === "quiet" ? roomWords.quietName(name) : roomWords.allName(name);
}
