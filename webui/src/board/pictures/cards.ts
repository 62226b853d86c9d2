/** The cards of pictures that are on their way, over the board. */

import { type CardActs, UploadCard } from "../../pictures/card";
import type { Upload } from "../../pictures/uploads";

export class Cards {
  private readonly cards = new Map<string, UploadCard>();

  constructor(
    private readonly holder: HTMLElement,
    private readonly actsOf: (id: string) => CardActs,
  ) {}

  show(uploads: readonly Upload[]): void {
    const ids = new Set(uploads.map(({ id }) => id));
    for (const [id, card] of this.cards) {
      if (ids.has(id)) continue;
      card.end();
      card.dom.remove();
      this.cards.delete(id);
    }
    for (const upload of uploads) {
      const known = this.cards.get(upload.id);
      if (known !== undefined) {
        known.show(upload);
        continue;
      }
      const card = new UploadCard(upload, this.actsOf(upload.id));
      this.cards.set(upload.id, card);
      this.holder.append(card.dom);
    }
  }

  end(): void {
    this.show([]);
  }
}
