/** The person wants to choose a picture: said on the editor, heard by its plugin of pictures. */

import type { EditorView } from "prosemirror-view";

export const PICTURE_WANTED = "picture-wanted";

export function wantPicture(view: EditorView): void {
  view.dom.dispatchEvent(new CustomEvent(PICTURE_WANTED));
}
