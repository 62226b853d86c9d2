/** What is cut before the code that names letters has been loaded. */

import type { EditorView } from "prosemirror-view";
import { expect, it } from "vitest";

import type { DocumentModel } from "../../src/document/types";
import { Undoing } from "../../src/editor/undoing";

/**
 * The code comes with the first focus; who cuts at once has it cut by the browser, and nobody is told
 * where the letters stand again: words that others wrote in them, away, stay where the cut was.
 */
it.fails("names its letters all the same", () => {
  const nothing = () => undefined;
  const undoing = new Undoing({} as DocumentModel, nothing, nothing);
  const event = { preventDefault: nothing } as unknown as ClipboardEvent;
  expect(undoing.cutOut({} as EditorView, event)).toBe(true);
});
