/** Leaves out of the editor's library what only browsers need that cannot run the page, which is ES2022. */

import type { Plugin } from "vite";

const LEFT_OUT: readonly (readonly [found: RegExp, instead: string])[] = [
  // How it finds Internet Explorer and the Edge before Chromium; what is for these goes with it.
  [/const ie_edge = .*?const ie_version = [^\n]*;/s, "const ie = false, ie_version = 0;"],
  [/^gecko && [^\n]*$/m, ""],
  // Safari before 11 had a clipboard that did nothing. Nobody copies or cuts without one.
  [/^const webkit_version = .*$/m, ""],
  [/const brokenClipboardAPI = .*?;/s, "const brokenClipboardAPI = false;"],
  [/captureCopy\(view, dom\);\n/, "return;\n"],
  [/safari \|\| chrome && chrome_version < 63;/, "safari;"],
  // What it tells who writes a page without its styles.
  [/console\["warn"\]\("ProseMirror expects [^\n]*\n/, "\n"],
];

export function modern(): Plugin {
  return {
    name: "modern",
    apply: "build",
    transform(given, id) {
      if (!id.endsWith("/prosemirror-view/dist/index.js")) return null;
      let code = given;
      for (const [found, instead] of LEFT_OUT) {
        if (!found.test(code)) this.error("prosemirror-view asks for old browsers in another way");
        code = code.replace(found, instead);
      }
      return { code, map: null };
    },
  };
}
