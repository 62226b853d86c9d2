/** A clipboard, and what the browser does with it, with what reads it. */

import { loadReader } from "../../src/editor/clipboard";

export * from "./clipboard-double";

// It is here at once, as it is behind the first moment in a browser.
await loadReader();
