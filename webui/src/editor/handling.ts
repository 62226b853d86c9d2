/** The handle beside a block comes with the first pointer over the text: who touches has none. */

import { Plugin } from "prosemirror-state";
import type { EditorView } from "prosemirror-view";
import { withWords } from "../words/language";
import type { Handle } from "./handle";

let loaded: typeof import("./handle") | null = null;

export function handlePlugin(): Plugin {
  let handle: Handle | null = null;
  return new Plugin({
    view: (view) => {
      const end = whenPointed(view, ({ Handle }, event) => {
        handle = new Handle(view);
        if (event !== null) handle.follow(event);
      });
      return {
        destroy: () => {
          end();
          handle?.destroy();
          handle = null;
        },
      };
    },
    props: {
      handleDOMEvents: {
        dragover: (_view, event) => handle?.over(event) ?? false,
        drop: (_view, event) => handle?.drop(event) ?? false,
        dragleave: () => handle?.leave() ?? false,
        keydown: () => handle?.hide() ?? false,
      },
    },
  });
}

/** Does it once there is a pointer; gives what ends the waiting. */
function whenPointed(
  { dom }: EditorView,
  act: (module: typeof import("./handle"), event: MouseEvent | null) => void,
): () => void {
  if (loaded !== null) {
    act(loaded, null);
    return () => undefined;
  }
  const host = dom.parentElement ?? dom;
  let isOver = false;
  const come = (event: MouseEvent): void => {
    withWords(import("./handle"), "move").then(
      (module) => {
        loaded = module;
        if (!isOver) act(module, event);
        end();
      },
      () => undefined, // without it until the pointer comes again
    );
  };
  const end = (): void => {
    isOver = true;
    host.removeEventListener("mouseenter", come);
  };
  host.addEventListener("mouseenter", come);
  return end;
}
