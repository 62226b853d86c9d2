/** A clipboard, and what the browser does with it. */

import type { Bench } from "./opened";

/** What a browser has and jsdom has not. */
export class Clipboard {
  private readonly kept = new Map<string, string>();
  readonly files = [];

  clearData(): void {
    this.kept.clear();
  }

  setData(kind: string, text: string): void {
    this.kept.set(kind, text);
  }

  getData(kind: string): string {
    return this.kept.get(kind) ?? "";
  }
}

export function happens(kind: string, { view }: Bench, clipboardData: Clipboard): void {
  const event = new Event(kind, { bubbles: true, cancelable: true });
  view.dom.dispatchEvent(Object.assign(event, { clipboardData }));
}

export function cut(on: Bench): Clipboard {
  const clipboard = new Clipboard();
  happens("cut", on, clipboard);
  return clipboard;
}

export const paste = (on: Bench, clipboard: Clipboard): void => happens("paste", on, clipboard);
