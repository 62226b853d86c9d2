/** The keys of the room in words. */

import type { HelpSection } from "../../board/page/help";
import { boardWords } from "../../words/board";
import { roomWords } from "../../words/room";

export function roomHelp(isMac: boolean): HelpSection[] {
  const mod = isMac ? "⌘" : "Ctrl";
  const shift = isMac ? "⇧" : "Shift";
  const walking = [
    ["←↑↓→", roomWords.keyWalk],
    ["W A S D", roomWords.keySteps],
    [shift, roomWords.keyRun],
    [roomWords.keyPress, roomWords.walkThere],
    [roomWords.keyDrag, roomWords.lookAround],
  ] as const;
  const using = [
    ["Tab", roomWords.nextNear],
    ["E / Enter", roomWords.use],
    ["G", roomWords.carry],
    [roomWords.keyTwice, roomWords.carry],
    ["R", roomWords.turnIt],
    ["Escape", roomWords.putBack],
    ["U", roomWords.standUp],
    [`${mod} Z`, boardWords.undo],
    [`${mod} ${shift} Z`, boardWords.redo],
  ] as const;
  const looking = [
    ["V", roomWords.ownEyes],
    ["N", roomWords.nearTitle],
    ["O", roomWords.onBoard],
    ["B", roomWords.switchFace],
    ["T", roomWords.sayTitle],
    ["H", roomWords.wave],
    ["C", boardWords.talk],
    [`${mod} F`, boardWords.find],
  ] as const;
  return [
    { title: roomWords.walking, lines: walking },
    { title: roomWords.using, lines: using },
    { title: roomWords.looking, lines: looking },
  ];
}
