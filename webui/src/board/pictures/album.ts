/** The pictures of a board as the browser has them: each is loaded when it comes into sight. */

import type { Thing } from "../../place/thing";
import { propText } from "../model/style";

/** So many are kept; those that were drawn longest ago go first. */
const KEPT_MAX = 200;
const HASH = /^[0-9a-f]{64}$/;
const AGAIN_MS = 5_000;
const LONGEST_MS = 60_000;

export type Image = CanvasImageSource;

/** Loads what is at an address; rejects where nothing can be shown of it. */
export type Load = (url: string) => Promise<Image>;

interface Page {
  image: Image | null;
  attempts: number;
  isLoading: boolean;
  hasFailed: boolean;
}

/** The picture that a thing shows; empty: none that there could be. */
export function pictureIn(thing: Thing): string {
  const picture = thing.kind === "picture" ? propText(thing, "picture") : "";
  return HASH.test(picture) ? picture : "";
}

/** The address of a picture of a place. */
export function placePictureUrl(place: string, picture: string): string {
  return `/api/v1${placePicturesPath(place)}/${picture}`;
}

/** The address of a picture that is drawn on a place: its own, or one of a document (`DOCUMENT/HASH`). */
export function drawnPictureUrl(place: string, picture: string): string {
  const [document = "", hash] = picture.split("/");
  if (hash === undefined) return placePictureUrl(place, picture);
  return `/api/v1/documents/${encodeURIComponent(document)}/pictures/${hash}`;
}

/** Where a place's pictures are. */
export function placePicturesPath(place: string): string {
  return `/places/${encodeURIComponent(place)}/pictures`;
}

export class Album {
  private readonly pages = new Map<string, Page>();

  constructor(
    private readonly place: string,
    private readonly load: Load,
    private readonly after: (delay_ms: number, act: () => void) => () => void,
    private readonly changed: () => void,
  ) {}

  /** What can be drawn of a picture now; null: it is on its way, or cannot be had. */
  image(picture: string): Image | null {
    const page = this.page(picture);
    if (page.image === null && !page.isLoading && !page.hasFailed) void this.fetch(picture, page);
    return page.image;
  }

  /** Whether a picture could not be had; it is asked for again by and by. */
  hasFailed(picture: string): boolean {
    return this.pages.get(picture)?.hasFailed ?? false;
  }

  /** Back when these are here, as far as they can be had. */
  async gather(pictures: Iterable<string>): Promise<void> {
    await Promise.all([...pictures].map((one) => this.fetch(one, this.page(one))));
  }

  /** Asks again at once for what could not be had. */
  again(): void {
    for (const page of this.pages.values()) page.hasFailed = false;
    this.changed();
  }

  private page(picture: string): Page {
    const known = this.pages.get(picture);
    const page = known ?? { image: null, attempts: 0, isLoading: false, hasFailed: false };
    this.pages.delete(picture);
    this.pages.set(picture, page); // the last one of the order
    for (const oldest of this.pages.keys()) {
      if (this.pages.size <= KEPT_MAX) break;
      this.pages.delete(oldest);
    }
    return page;
  }

  private async fetch(picture: string, page: Page): Promise<void> {
    if (page.image !== null) return;
    page.isLoading = true;
    try {
      page.image = await this.load(drawnPictureUrl(this.place, picture));
      page.hasFailed = false;
    } catch {
      page.hasFailed = true;
      const wait_ms = Math.min(LONGEST_MS, AGAIN_MS * 2 ** page.attempts);
      page.attempts += 1;
      this.after(wait_ms, () => {
        page.hasFailed = false;
        this.changed();
      });
    }
    page.isLoading = false;
    this.changed();
  }
}

/** Loads by an element: the browser lets go of the pixels of what it does not show. */
export async function loadImage(url: string): Promise<Image> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}
