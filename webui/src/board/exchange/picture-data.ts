/** The pictures of a board inside a file: as `data:` addresses, by their hash. */

import type { Thing } from "../../place/thing";
import { type Cards, cardPictures } from "../model/card";
import { drawnPictureUrl, pictureIn } from "../pictures/album";

export type PictureData = ReadonlyMap<string, string>;

/** In bytes: a file with more cannot be opened by most programs. */
const BYTES_MAX = 64 << 20;

export function picturesIn(things: readonly Thing[]): Set<string> {
  return new Set(things.map(pictureIn).filter((picture) => picture !== ""));
}

/** All that is drawn of these things: with the pictures of documents that cards show. */
export function picturesDrawn(things: readonly Thing[], cards: Cards): Set<string> {
  const found = picturesIn(things);
  for (const thing of things) for (const one of cardPictures(thing, cards)) found.add(one);
  return found;
}

/** What of these pictures can be had; the others are missing in it. */
export async function pictureData(place: string, pictures: Iterable<string>): Promise<PictureData> {
  const found = new Map<string, string>();
  let left = BYTES_MAX;
  for (const picture of pictures) {
    const blob = await bytesOf(drawnPictureUrl(place, picture));
    if (blob === null || blob.size > left) continue;
    left -= blob.size;
    found.set(picture, await addressOf(blob));
  }
  return found;
}

async function bytesOf(url: string): Promise<Blob | null> {
  try {
    const answer = await fetch(url);
    return answer.ok ? await answer.blob() : null;
  } catch {
    return null;
  }
}

function addressOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error("unreadable"));
    reader.readAsDataURL(blob);
  });
}

const ADDRESS = /^data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=\s]*)$/;

/** The file in a `data:` address of a picture that nodes take; null for anything else. */
export function fileIn(address: unknown, name: string): File | null {
  const found = typeof address === "string" ? ADDRESS.exec(address) : null;
  const [, type = "", content = ""] = found ?? [];
  if (type === "") return null;
  try {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    return bytes.length === 0 ? null : new File([bytes], name, { type });
  } catch {
    return null;
  }
}
