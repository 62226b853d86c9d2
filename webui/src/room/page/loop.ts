/** Frames while something changes, and none while nothing does. */

export class Loop {
  private frame = 0;
  private isStopped = false;

  /** `act`: whether the next frame shows something else. */
  constructor(private readonly act: (now_ms: number) => boolean) {}

  /** Something is another one: there is a frame soon. */
  ask(): void {
    if (this.frame !== 0 || this.isStopped) return;
    this.frame = requestAnimationFrame((now_ms) => {
      this.frame = 0;
      if (this.act(now_ms)) this.ask();
    });
  }

  stop(): void {
    this.isStopped = true;
    cancelAnimationFrame(this.frame);
  }
}
