/** The keys of the board in words. */

import { boardWords } from "../../words/board";
import { MORE_KEY, PICTURE_KEY, TOOL_KEYS } from "../model/keys";

export interface HelpSection {
  readonly title: string;
  readonly lines: readonly (readonly [keys: string, says: string])[];
}

export function boardHelp(isMac: boolean): HelpSection[] {
  const mod = isMac ? "⌘" : "Ctrl";
  const shift = isMac ? "⇧" : "Shift";
  const tools = Object.entries({ ...TOOL_KEYS, [PICTURE_KEY]: "picture" as const }).map(
    ([key, name]) => [key.toUpperCase(), boardWords[name]] as const,
  );
  const more = [MORE_KEY.toUpperCase(), boardWords.more] as const;
  const view = [
    [boardWords.keySpace, boardWords.moveView],
    [boardWords.keyWheel, boardWords.moveView],
    [boardWords.keyZoom, boardWords.zoomView],
    ["+ / −", boardWords.zoomView],
    [`${shift} 1`, boardWords.fit],
    [`${shift} 2`, boardWords.fitChosen],
    ["B", boardWords.switchFace],
    ["C", boardWords.talk],
    ["G", boardWords.snap],
    [`${mod} F`, boardWords.find],
  ] as const;
  const things = [
    ["←↑↓→", boardWords.nudge],
    ["Tab", boardWords.nextThing],
    ["Enter", boardWords.enterUses],
    ["F2", boardWords.writeText],
    ["Escape", boardWords.escape],
    [`${mod} Z`, boardWords.undo],
    [`${mod} ${shift} Z`, boardWords.redo],
    [`${mod} A`, boardWords.selectAll],
    [`${mod} C, X, V`, boardWords.copyPaste],
    [`${mod} D`, boardWords.duplicate],
    ["Delete", boardWords.delete],
    [`${mod} G`, boardWords.group],
    [`${mod} ${shift} G`, boardWords.ungroup],
    [`${mod} ${shift} L`, boardWords.lockKey],
    ["]", boardWords.toFront],
    ["[", boardWords.toBack],
    [`${mod} ]`, boardWords.forward],
    [`${mod} [`, boardWords.backward],
    [shift, boardWords.addChosen],
  ] as const;
  return [
    { title: boardWords.toolsTitle, lines: [...tools, more] },
    { title: boardWords.viewTitle, lines: view },
    { title: boardWords.thingsTitle, lines: things },
  ];
}
