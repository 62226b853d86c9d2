/** An editor over a document in memory, and what a person does with it. */

import { loadFocused } from "../../src/editor/focused";

export * from "./opened";

// It is here at once, as it is behind the first moment in a browser.
await loadFocused();
