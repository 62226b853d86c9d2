/** Leaves out of the editor's library what only browsers need that cannot run the page: it is ES2022. */

import type { Plugin } from "vite";

/** How it finds Internet Explorer and the Edge before Chromium; what is for these goes with it. */
const OLD = /const ie_edge = .*?const ie_version = [^\n]*;/s;

export function modern(): Plugin {
  return {
    name: "modern",
    apply: "build",
    transform(code, id) {
      if (!id.endsWith("/prosemirror-view/dist/index.js")) return null;
      if (!OLD.test(code)) this.error("prosemirror-view asks for old browsers in another way");
      return { code: code.replace(OLD, "const ie = false, ie_version = 0;"), map: null };
    },
  };
}
