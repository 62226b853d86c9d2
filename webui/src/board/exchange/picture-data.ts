/** The pictures of a board inside a file: as `data:` addresses, by their hash. */

import type { Thing } from "../../place/thing";
import { pictureIn, placePictureUrl } from "../pictures/album";

export type PictureData = ReadonlyMap<string, string>;

/** In bytes: a file with more cannot be opened by most programs. */
const BYTES_MAX = 64 << 20;

export function picturesIn(things: readonly Thing[]): Set<string> {
  return new Set(things.map(pictureIn).filter((picture) => picture !== ""));
}

/** What of the things' pictures can be had; the others are missing in it. */
export async function pictureData(place: string, things: readonly Thing[]): Promise<PictureData> {
  const found = new Map<string, string>();
  let left = BYTES_MAX;
  for (const picture of picturesIn(things)) {
    const blob = await bytesOf(placePictureUrl(place, picture));
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
