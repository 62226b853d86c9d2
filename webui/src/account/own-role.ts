/** What the person is in the open document, as far as the page knows. */

/** Accounts and documents have orders of their own: a node may know of one change before the other. */
const AGAIN_MS = 1_000;
const WRITERS: ReadonlySet<string> = new Set(["editor", "owner"]);

export class OwnRole {
  /** Null until it is known. */
  name: string | null = null;

  /** `fetch`: asks the node; without it there are no accounts, and everybody may all. */
  constructor(
    private readonly fetch: (() => Promise<string>) | undefined,
    private readonly later: (delay_ms: number, act: () => void) => void,
    private readonly changed: () => void,
  ) {
    if (fetch === undefined) this.name = "owner";
  }

  get mayWrite(): boolean {
    return this.name !== null && WRITERS.has(this.name);
  }

  /** Roles have changed: asks now, and again a little later. */
  learn(): void {
    this.ask();
    this.later(AGAIN_MS, () => this.ask());
  }

  ask(): void {
    if (this.fetch === undefined) return;
    void this.fetch().then(
      (name) => this.is(name),
      // The node is away, or the document is no more the person's: the socket says which. What is
      // written meanwhile is judged there.
      () => this.is(this.name ?? "editor"),
    );
  }

  /** Who has written here may go on with it, until a node says otherwise. */
  assume(): void {
    this.name ??= "editor";
  }

  private is(name: string): void {
    this.name = name;
    this.changed();
  }
}
