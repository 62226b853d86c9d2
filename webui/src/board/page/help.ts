/** The keys of the board in words. */

import { boardWords } from "../../words/board";
import { settingsWords } from "../../words/settings";
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
    [settingsWords.keySpace, settingsWords.moveView],
    [settingsWords.keyWheel, settingsWords.moveView],
    [settingsWords.keyZoom, settingsWords.zoomView],
    ["+ / −", settingsWords.zoomView],
    [`${shift} 1`, boardWords.fit],
    [`${shift} 2`, boardWords.fitChosen],
    ["B", settingsWords.switchFace],
    ["C", boardWords.talk],
    ["G", boardWords.snap],
    [`${mod} F`, boardWords.find],
  ] as const;
  const things = [
    ["←↑↓→", settingsWords.nudge],
    ["Tab", settingsWords.nextThing],
    ["Enter", settingsWords.enterUses],
    ["F2", settingsWords.writeText],
    ["Escape", settingsWords.escape],
    [`${mod} Z`, boardWords.undo],
    [`${mod} ${shift} Z`, boardWords.redo],
    [`${mod} A`, settingsWords.selectAll],
    [`${mod} C, X, V`, settingsWords.copyPaste],
    [`${mod} D`, boardWords.duplicate],
    ["Delete", boardWords.delete],
    [`${mod} G`, boardWords.group],
    [`${mod} ${shift} G`, boardWords.ungroup],
    [`${mod} ${shift} L`, settingsWords.lockKey],
    ["]", boardWords.toFront],
    ["[", boardWords.toBack],
    [`${mod} ]`, boardWords.forward],
    [`${mod} [`, boardWords.backward],
    [shift, settingsWords.addChosen],
  ] as const;
  return [
    { title: settingsWords.toolsTitle, lines: [...tools, more] },
    { title: settingsWords.viewTitle, lines: view },
    { title: settingsWords.thingsTitle, lines: things },
  ];
}
