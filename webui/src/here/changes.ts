/** What others change in the text, said in one sentence now and then: it is not to flood. */

import type { ShownChange, ViewEvent } from "../document/types";
import { documentWords } from "../words/document";

/** What changes within this time is one sentence, and so much lies between two. */
const PAUSE_MS = 10_000;

export class Changes {
  /** The sentence; "" once it has been said, so that the same one can be said again. */
  said = "";
  private readonly blocks = new Set<string>();
  private isDue = false;

  constructor(
    private readonly later: (delay_ms: number, act: () => void) => void,
    private readonly changed: () => void,
  ) {}

  /** Others did this. */
  heard({ changes }: ViewEvent): void {
    for (const id of (changes ?? []).flatMap(blocksOf)) this.blocks.add(id);
    this.wait();
  }

  private wait(): void {
    if (this.blocks.size === 0 || this.isDue) return;
    this.isDue = true;
    this.later(PAUSE_MS / 2, () => this.say());
  }

  private say(): void {
    this.said = documentWords.sayChanged(this.blocks.size);
    this.blocks.clear();
    this.changed();
    this.later(PAUSE_MS / 2, () => this.forget());
  }

  private forget(): void {
    this.said = "";
    this.isDue = false;
    this.changed();
    this.wait();
  }
}

/** The blocks that a change is of; none when only what is loaded here has changed. */
function blocksOf(change: ShownChange): readonly string[] {
  switch (change[0]) {
    case "edit":
    case "set":
    case "split":
    case "join":
      return [change[1]];
    case "remove":
    case "move":
      return change[1];
    case "insert":
      return change[2].map(({ id }) => id);
    default:
      return [];
  }
}
