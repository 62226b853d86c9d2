/** What is asked for again and again while somebody looks. */

import { holdFocus } from "../account/hold-focus";
import { messageOf } from "../api";

export class Polled<T> {
  /** The newest answer; what there was stays while a node does not answer. */
  value = $state.raw<T | null>(null);
  problem = $state<string | null>(null);
  private timer = 0;
  private isOver = false;
  private asked = 0;

  constructor(
    private readonly load: () => Promise<T>,
    private readonly every_ms: number,
  ) {}

  /** Begins; to be given to `$effect`: what it returns ends it. */
  readonly start = (): (() => void) => {
    this.isOver = false;
    void this.again();
    document.addEventListener("visibilitychange", this.seen);
    return () => {
      this.isOver = true;
      clearTimeout(this.timer);
      document.removeEventListener("visibilitychange", this.seen);
    };
  };

  /** Asks now. Only the newest question's answer counts, whenever those of former ones come. */
  readonly again = async (): Promise<void> => {
    clearTimeout(this.timer);
    this.asked += 1;
    const { asked } = this;
    try {
      const found = await this.load();
      if (this.isOver || asked !== this.asked) return;
      // Rows that stand in another order now are moved, also the one with the focus.
      const giveFocusBack = holdFocus();
      this.value = found;
      this.problem = null;
      setTimeout(giveFocusBack); // when it is drawn
    } catch (error) {
      if (this.isOver || asked !== this.asked) return;
      this.problem = messageOf(error);
    }
    clearTimeout(this.timer);
    if (!document.hidden) this.timer = window.setTimeout(this.again, this.every_ms);
  };

  private readonly seen = (): void => {
    if (!document.hidden && !this.isOver) void this.again();
  };
}
