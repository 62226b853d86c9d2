/**
 * The documents of the cards of a place; what reads them comes with the first card.
 *
 * A board without cards loads nothing of documents.
 */

import type { Session } from "../../client/session";
import type { CardDesk } from "../../sheets/desk";
import { withWords } from "../../words/language";
import type { Cards, CardView, Wanted } from "../model/card";

const AGAIN_MS = 5_000;

export class CardShelf implements Cards {
  private desk: CardDesk | null = null;
  private wanted: readonly Wanted[] = [];
  private isComing = false;
  private isClosed = false;

  /** `changed`: a card shows something else. */
  constructor(
    private readonly session: Session,
    private readonly after: (delay_ms: number, act: () => void) => () => void,
    private readonly changed: () => void,
  ) {}

  /** Bound, as it is handed on by itself. */
  readonly card = (document: string): CardView | null => this.desk?.view(document) ?? null;

  /** These are in sight now. */
  look(wanted: readonly Wanted[]): void {
    this.wanted = wanted;
    if (this.desk !== null) this.desk.look(wanted);
    else if (wanted.length > 0) void this.bring();
  }

  /** The connection has come or gone. */
  connected(): void {
    this.desk?.connected();
  }

  close(): void {
    this.isClosed = true;
    this.desk?.close();
  }

  private async bring(): Promise<void> {
    if (this.isComing) return;
    this.isComing = true;
    try {
      const { deskOf } = await withWords(import("../../sheets/desk"));
      if (this.isClosed) return;
      this.desk = deskOf(this.session, this.after, this.changed);
      this.desk.look(this.wanted);
    } catch {
      this.after(AGAIN_MS, () => {
        this.isComing = false;
        this.look(this.wanted);
      });
    }
  }
}
