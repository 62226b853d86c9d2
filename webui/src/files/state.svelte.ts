/** The files as this page knows them: asked for once, and followed from there on. */

import { SvelteMap } from "svelte/reactivity";
import type { Identity } from "../account/session";
import { fetchTicket } from "../account/ticket";
import { type Fields, isOld, messageOf, socketUrl } from "../api";
import { allFiles, dislike, like, likeBefore } from "./asking";
import { Feed } from "./feed";
import { dislikedHere, likedHere, type Own, ownHere } from "./own";
import {
  type DocumentRow,
  documentOf,
  type FolderRow,
  folderOf,
  type Opened,
  openedOf,
  rowsOf,
  type WorkspaceRow,
  workspaceOf,
} from "./types";
import type { Files } from "./views";

/** A connection that is lost for less is not worth a word. */
const LOST_MS = 3_000;

export class FilesState implements Files {
  documents = new SvelteMap<string, DocumentRow>();
  folders = new SvelteMap<string, FolderRow>();
  workspaces = $state.raw<readonly WorkspaceRow[]>([]);
  favourites = $state.raw<readonly string[]>([]);
  recent = $state.raw<readonly Opened[]>([]);
  isLoaded = $state(false);
  /** Why there is nothing to show. */
  problem = $state<string | null>(null);
  /** The node is away for a while: what is shown may be old. */
  isStale = $state(false);
  /** The node says so itself: it is cut off from the others. */
  isCutOff = $state(false);

  private readonly feed: Feed;
  private lostTimer: ReturnType<typeof setTimeout> | null = null;
  private round = 0;
  /** What is told while everything is being asked for comes behind that. */
  private told: Fields[] | null = null;

  constructor(private readonly identity: Identity) {
    const own = socketUrl(location.origin) ?? "";
    this.feed = new Feed({
      url: own.replace(/\/ws$/, "/feed"),
      open: (url) => new WebSocket(url),
      ticket: async () => (identity.hasAccounts ? fetchTicket(own) : ""),
      begun: () => void this.load(),
      told: (message) => this.hear(message),
      lost: () => this.lose(),
      signedOut: () => void this.load(),
    });
    void this.load();
  }

  close(): void {
    this.round += 1;
    this.feed.close();
    if (this.lostTimer !== null) clearTimeout(this.lostTimer);
  }

  wake(): void {
    this.feed.wake();
  }

  async load(): Promise<void> {
    this.round += 1;
    const round = this.round;
    this.told = [];
    try {
      const found = await allFiles();
      if (round !== this.round) return;
      this.takeAll(found);
    } catch (error) {
      if (round === this.round && !this.isLoaded) this.problem = messageOf(error);
    }
    if (round === this.round) this.told = null;
  }

  private takeAll(found: Fields): void {
    const documents = rowsOf(found.documents, documentOf);
    const folders = rowsOf(found.folders, folderOf);
    renew(this.documents, documents);
    renew(this.folders, folders);
    this.takeOwn(found);
    for (const message of this.told ?? []) this.take(message);
    this.isLoaded = true;
    this.problem = null;
    this.isCutOff = isOld(found);
    this.found();
  }

  private found(): void {
    if (this.lostTimer !== null) clearTimeout(this.lostTimer);
    this.lostTimer = null;
    this.isStale = false;
  }

  private lose(): void {
    this.lostTimer ??= setTimeout(() => {
      this.isStale = true;
    }, LOST_MS);
  }

  private hear(message: Fields): void {
    if (this.told === null) this.take(message);
    else this.told.push(message);
  }

  private take(message: Fields): void {
    for (const row of rowsOf(message.documents, documentOf)) this.documents.set(row.id, row);
    for (const row of rowsOf(message.folders, folderOf)) this.folders.set(row.id, row);
    for (const id of Array.isArray(message.gone) ? message.gone : []) {
      this.documents.delete(String(id));
      this.folders.delete(String(id));
    }
    this.takeOwn(message);
  }

  private takeOwn(message: Fields): void {
    if (Array.isArray(message.workspaces)) {
      this.workspaces = rowsOf(message.workspaces, workspaceOf);
    }
    const { favourites, recent } = message;
    if (!this.identity.hasAccounts) {
      this.show(ownHere());
    } else {
      if (Array.isArray(favourites)) this.favourites = favourites.map(String);
      if (Array.isArray(recent)) this.recent = rowsOf(recent, openedOf);
    }
  }

  private show(own: Own): void {
    this.favourites = own.favourites;
    this.recent = own.recent;
  }

  isFavourite(id: string): boolean {
    return this.favourites.includes(id);
  }

  /** Likes it, or not any more. */
  async toggleFavourite(id: string): Promise<void> {
    const isLiked = this.isFavourite(id);
    if (this.identity.hasAccounts) await (isLiked ? dislike(id) : like(id));
    else this.show(isLiked ? dislikedHere(id) : likedHere(id));
  }

  /** Puts a favourite one place further up or down. */
  async shiftFavourite(id: string, isUp: boolean): Promise<void> {
    const at = this.favourites.indexOf(id);
    const before = this.favourites[isUp ? at - 1 : at + 2] ?? "";
    if (at < 0 || (isUp ? at === 0 : at === this.favourites.length - 1)) return;
    if (this.identity.hasAccounts) await likeBefore(id, before);
    else this.show(likedHere(id, before));
  }
}

function renew<T extends { readonly id: string }>(map: SvelteMap<string, T>, rows: readonly T[]) {
  const left = new Set(rows.map(({ id }) => id));
  for (const id of [...map.keys()]) if (!left.has(id)) map.delete(id);
  for (const row of rows) map.set(row.id, row);
}
