/** Favourites and last opened documents, where nobody signs in: kept in this browser. */

import { fields, textOf } from "../api";
import type { Opened } from "./types";

const KEY = "groupcore.files";
const RECENT_MAX = 50;

export interface Own {
  readonly favourites: readonly string[];
  readonly recent: readonly Opened[];
}

export function ownHere(): Own {
  try {
    const { favourites, recent } = fields(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
    const opened = Array.isArray(recent) ? recent.map(fields) : [];
    return {
      favourites: Array.isArray(favourites) ? favourites.map(String) : [],
      recent: opened.map(({ id, at }) => ({ id: textOf(id), at: textOf(at) })),
    };
  } catch {
    return { favourites: [], recent: [] };
  }
}

function keep(own: Own): Own {
  try {
    localStorage.setItem(KEY, JSON.stringify(own));
  } catch {
    // A browser that keeps nothing knows of no favourites.
  }
  return own;
}

/** The item stands before another one; "": last. */
export function likedHere(id: string, before = ""): Own {
  const own = ownHere();
  const left = own.favourites.filter((one) => one !== id);
  const place = left.indexOf(before);
  const at = place < 0 ? left.length : place;
  return keep({ ...own, favourites: [...left.slice(0, at), id, ...left.slice(at)] });
}

export function dislikedHere(id: string): Own {
  const own = ownHere();
  return keep({ ...own, favourites: own.favourites.filter((one) => one !== id) });
}

export function openedHere(id: string, at = new Date().toJSON()): Own {
  const own = ownHere();
  const left = own.recent.filter((one) => one.id !== id);
  return keep({ ...own, recent: [{ id, at }, ...left].slice(0, RECENT_MAX) });
}
