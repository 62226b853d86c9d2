/** The keys of the board: what each does. */

import type { ToolName } from "../tools/tool";

export const TOOL_KEYS: Readonly<Record<string, Exclude<ToolName, "acting">>> = {
  v: "select",
  h: "hand",
  s: "sticky",
  t: "text",
  r: "rectangle",
  e: "ellipse",
  d: "diamond",
  a: "arrow",
  l: "line",
  p: "ink",
  f: "frame",
  x: "eraser",
};

/** Chooses pictures of this machine. */
export const PICTURE_KEY = "i";

/** Opens what more there is to be made. */
export const MORE_KEY = "m";

export type KeyAct =
  | { readonly do: "tool"; readonly tool: ToolName }
  | { readonly do: "nudge"; readonly dx: number; readonly dy: number; readonly isLarge: boolean }
  | { readonly do: "step"; readonly by: 1 | -1 }
  | {
      readonly do:
        | "delete"
        | "duplicate"
        | "undo"
        | "redo"
        | "all"
        | "group"
        | "ungroup"
        | "lock"
        | "front"
        | "forward"
        | "backward"
        | "back"
        | "zoomIn"
        | "zoomOut"
        | "zoomWhole"
        | "fit"
        | "fitChosen"
        | "find"
        | "picture"
        | "help"
        | "face"
        | "edit"
        | "use"
        | "more"
        | "escape"
        | "snap"
        | "talk";
    };

export interface Keyed {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
}

const ARROWS: Readonly<Record<string, readonly [dx: number, dy: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** What a key does on the board; null: nothing, it is the browser's. */
export function actOf(event: Keyed): KeyAct | null {
  if (event.altKey) return null;
  return event.ctrlKey || event.metaKey ? withMod(event) : plain(event);
}

function withMod({ key, code, shiftKey }: Keyed): KeyAct | null {
  switch (key.toLowerCase()) {
    case "z":
      return { do: shiftKey ? "redo" : "undo" };
    case "y":
      return { do: "redo" };
    case "a":
      return { do: "all" };
    case "d":
      return { do: "duplicate" };
    case "g":
      return { do: shiftKey ? "ungroup" : "group" };
    case "f":
      return { do: "find" };
    case "l":
      return shiftKey ? { do: "lock" } : null;
    case "=":
    case "+":
      return { do: "zoomIn" };
    case "-":
      return { do: "zoomOut" };
    case "0":
      return { do: "zoomWhole" };
    case "]":
      return { do: "forward" };
    case "[":
      return { do: "backward" };
    default:
      // On keyboards where a bracket takes another key.
      if (code === "BracketRight") return { do: "forward" };
      return code === "BracketLeft" ? { do: "backward" } : null;
  }
}

function plain({ key, code, shiftKey }: Keyed): KeyAct | null {
  const arrow = ARROWS[key];
  if (arrow !== undefined) return { do: "nudge", dx: arrow[0], dy: arrow[1], isLarge: shiftKey };
  if (shiftKey && code === "Digit1") return { do: "fit" };
  if (shiftKey && code === "Digit2") return { do: "fitChosen" };
  switch (key) {
    case "Delete":
    case "Backspace":
      return { do: "delete" };
    case "Escape":
      return { do: "escape" };
    case "Enter":
      return { do: "use" };
    case "F2":
      return { do: "edit" };
    case "Tab":
      return { do: "step", by: shiftKey ? -1 : 1 };
    case "?":
      return { do: "help" };
    case "]":
      return { do: "front" };
    case "[":
      return { do: "back" };
    case "+":
      return { do: "zoomIn" };
    case "-":
      return { do: "zoomOut" };
    case "g":
      return { do: "snap" };
    case "b":
      return { do: "face" };
    case "c":
      return { do: "talk" };
    case PICTURE_KEY:
      return { do: "picture" };
    case MORE_KEY:
      return { do: "more" };
    default: {
      const tool = shiftKey ? undefined : TOOL_KEYS[key.toLowerCase()];
      return tool === undefined ? null : { do: "tool", tool };
    }
  }
}
