/**
 * A slash at the start of a word offers what the block can become; what is typed behind it chooses.
 */

import { type EditorState, Plugin, PluginKey } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { wantPicture } from "../pictures/wanted";
import { pictureWords } from "../words/pictures";
import { type Choice, choiceCommand, choices } from "./commands";
import { REMOTE } from "./remote";
import { blockType, typeOf } from "./schema";

/** The menu as it is shown; `active`: which of the choices Enter takes. */
export interface SlashMenu {
  readonly choices: readonly Choice[];
  readonly active: number;
  /** Where the slash stands. */
  readonly from: number;
  readonly to: number;
}

interface State {
  readonly isOpen: boolean;
  readonly active: number;
}

const SLASH = new PluginKey<State>("slash");
const CLOSED: State = { isOpen: false, active: 0 };
/** What no block is turned into: a file has to be chosen first. */
const IMAGE = "image";
export const MENU_ID = "slash-menu";

/** The slash and what is typed behind it, left of the caret. */
function typed(state: EditorState): { from: number; to: number; words: string } | null {
  const { $from, empty } = state.selection;
  const node = $from.parent;
  if (!empty || node.type !== blockType || typeOf(node) === "code") return null;
  const before = node.textBetween(0, $from.parentOffset);
  const words = /(?:^|\s)\/([\p{L}\p{N}-]{0,20})$/u.exec(before)?.[1];
  if (words === undefined) return null;
  return { from: $from.pos - words.length - 1, to: $from.pos, words };
}

/** What of a name is compared: as one types it, in one piece. */
const bare = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** What people who have used others' menus type, in any language: `/h1`, `/todo`. */
const shortNames = (value: string): readonly string[] => [
  bare(value),
  bare(value.replace("heading", "h")),
];

/** The menu, null when there is none. */
export function slashMenu(state: EditorState): SlashMenu | null {
  const { isOpen, active } = SLASH.getState(state) ?? CLOSED;
  const found = isOpen ? typed(state) : null;
  if (found === null) return null;
  const words = bare(found.words);
  const image = { value: IMAGE, label: pictureWords.image };
  const fitting = [...choices(), image].filter(
    ({ value, label }) =>
      bare(label).includes(words) || shortNames(value).some((name) => name.startsWith(words)),
  );
  if (fitting.length === 0) return null;
  const { from, to } = found;
  return { choices: fitting, active: Math.min(active, fitting.length - 1), from, to };
}

/** The id of the choice's element, for those who hear the page. */
export const choiceId = (value: string): string => `${MENU_ID}-${value}`;

/** Takes a choice: the slash goes, and the block becomes that. */
export function choose(view: EditorView, place: number): boolean {
  const menu = slashMenu(view.state);
  const choice = menu?.choices[place];
  if (menu === null || choice === undefined) return false;
  const cleared = view.state.tr.delete(menu.from, menu.to);
  view.dispatch(cleared);
  if (choice.value === IMAGE) wantPicture(view);
  choiceCommand(choice.value)?.(view.state, (transaction) => view.dispatch(transaction), view);
  return true;
}

export function slashPlugin(): Plugin<State> {
  const set = (view: EditorView, state: State): boolean => {
    view.dispatch(view.state.tr.setMeta(SLASH, state));
    return true;
  };
  return new Plugin<State>({
    key: SLASH,
    state: {
      init: () => CLOSED,
      apply: (transaction, before, _old, state) => {
        const set = transaction.getMeta(SLASH) as State | undefined;
        if (set !== undefined) return set;
        const isOwn = transaction.docChanged && transaction.getMeta(REMOTE) !== true;
        const found = typed(state);
        if (found === null) return before.isOpen ? CLOSED : before;
        // It opens with the slash itself, so that Escape closes it for this word.
        if (isOwn && found.words === "") return { isOpen: true, active: 0 };
        return isOwn ? { ...before, active: 0 } : before;
      },
    },
    props: {
      handleKeyDown: (view, event) => {
        const menu = slashMenu(view.state);
        if (menu === null || event.isComposing) return false;
        const { length } = menu.choices;
        switch (event.key) {
          case "ArrowDown":
            return set(view, { isOpen: true, active: (menu.active + 1) % length });
          case "ArrowUp":
            return set(view, { isOpen: true, active: (menu.active + length - 1) % length });
          case "Enter":
          case "Tab":
            return choose(view, menu.active);
          case "Escape":
            return set(view, CLOSED);
          default:
            return false;
        }
      },
    },
  });
}

/** What those who hear the page are told of the menu behind a slash. */
export function menuAttributes(state: EditorState): Record<string, string> {
  const menu = slashMenu(state);
  const choice = menu?.choices[menu.active];
  if (choice === undefined) return {};
  return { "aria-controls": MENU_ID, "aria-activedescendant": choiceId(choice.value) };
}
