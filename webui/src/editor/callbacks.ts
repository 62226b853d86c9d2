/** What the editor tells whoever shows it. */

import type { Draft, ViewEvent } from "../document/types";
import type { Caret } from "../people";
import type { PicturePlugin } from "../pictures/plugin";
import type { Finding } from "./find";
import type { SlashMenu } from "./slash";
import type { Surroundings } from "./state";

/** The menu behind a slash. */
export interface OfferedMenu {
  readonly menu: SlashMenu;
  /** The place of the slash on the screen. */
  readonly box: { readonly left: number; readonly top: number; readonly bottom: number };
}

export interface EditorCallbacks {
  /** The person changed the document; the model knows it already, or it is being done. */
  readonly edited: () => void;
  /** What was pasted may not be put in any more. */
  readonly notPut?: (texts: readonly Draft[]) => void;
  /** Others changed the document, or more of it was loaded. */
  readonly othersDid?: (event: ViewEvent) => void;
  /** The person's caret moved, or left the text; `isCarried`: only along with what they wrote. */
  readonly caretMoved: (caret: Caret, isCarried: boolean) => void;
  readonly surroundings: (now: Surroundings) => void;
  /** This block is the first in sight. */
  readonly viewed: (block: string) => void;
  /** The person asks for a link at the selection. */
  readonly linkWanted: () => void;
  /** What was to be taken out or copied is not all here; it is being loaded. */
  readonly notLoaded: () => void;
  /** What was asked for needs a part of the page that could not be loaded. */
  readonly toolsMissing?: () => void;
  /** The menu behind a slash, and where it is drawn; null: it is closed. */
  readonly offered: (menu: OfferedMenu | null) => void;
  /** Pictures, where there is somewhere to put them. */
  readonly pictures?: PicturePlugin;
  /** What is looked for was found, here or there. */
  readonly found: (finding: Finding) => void;
}
