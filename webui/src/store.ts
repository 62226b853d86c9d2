/** What must outlive the tab, in IndexedDB: a record for each client and document. */

import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB } from "idb";
import type { StoredSession } from "./client/session";
import type { Draft } from "./document/types";

/** What a tab leaves behind of a document. */
export interface Kept {
  readonly doc: string;
  readonly client: string;
  /** Whose it is: nobody else sends it, or sees it. */
  readonly principal: string;
  /** What the session needs, so that nodes know its calls again. */
  readonly session: StoredSession;
  /** What the model needs to go on; null: nothing of it waits to be sent. */
  readonly state: unknown;
  /** Texts that were not taken, of this tab and of others that are gone. */
  readonly drafts: readonly Draft[];
}

/** A picture that is to get into a document. */
export interface KeptUpload {
  readonly id: string;
  readonly doc: string;
  readonly principal: string;
  readonly work:
    | {
        readonly kind: "file";
        readonly file: Blob;
        readonly name: string;
        readonly behind: string;
      }
    | { readonly kind: "copy"; readonly from: string; readonly picture: string };
}

/** The outline of a document, by itself: it seldom changes, and what waits does with every key. */
interface KeptOutline {
  /** No document's id: what is left of this one is found without it. */
  readonly doc: `outline/${string}`;
  readonly client: string;
  readonly outline: unknown;
}

interface Schema extends DBSchema {
  documents: { key: [string, string]; value: Kept | KeptOutline; indexes: { doc: string } };
  uploads: { key: string; value: KeptUpload; indexes: { doc: string } };
}

const NAME = "groupcore";
const VERSION = 4;

/**
 * Whoever comes from version 1 had edits for another protocol: no node takes them any more. In
 * version 2 everybody was a guest.
 */
async function createTables(
  database: IDBPDatabase<Schema>,
  before: number,
  _now: number | null,
  work: IDBPTransaction<Schema, ("documents" | "uploads")[], "versionchange">,
): Promise<void> {
  database.createObjectStore("uploads", { keyPath: "id" }).createIndex("doc", "doc");
  if (before === 3) return;
  const old = database as unknown as IDBPDatabase;
  if (old.objectStoreNames.contains("sessions")) old.deleteObjectStore("sessions");
  if (before === 2) {
    const table = work.objectStore("documents");
    const all = (await table.getAll()) as Kept[];
    for (const kept of all) await table.put({ ...kept, principal: "guest" });
    return;
  }
  const documents = database.createObjectStore("documents", { keyPath: ["client", "doc"] });
  documents.createIndex("doc", "doc");
}

export const openTables = (): Promise<IDBPDatabase<Schema>> =>
  openDB<Schema>(NAME, VERSION, { upgrade: createTables });

const OUTLINE = "outline/";

/** A state with an outline, which is the very same value for as long as nothing in it changes. */
interface WithOutline {
  readonly outline: readonly [outline: unknown, ...rest: unknown[]];
}

function hasOutline(state: unknown): state is WithOutline {
  return (
    typeof state === "object" && state !== null && "outline" in state && state.outline !== null
  );
}

/** Whether edits wait to be sent; else there is nothing but drafts, if anything. */
export function isUnsent({ state }: Kept): boolean {
  return state !== null && (state as Partial<WithOutline>).outline !== null;
}

function idIn(key: string): string {
  return key.slice(OUTLINE.length);
}

/** With its outline, which lies by itself. */
export async function whole(
  kept: Kept,
  get: (key: [string, string]) => Promise<unknown>,
): Promise<Kept> {
  const { state, client, doc } = kept;
  if (!hasOutline(state) || state.outline[0] !== null) return kept;
  const [, ...rest] = state.outline;
  const found = (await get([client, `${OUTLINE}${doc}`])) as KeptOutline;
  return { ...kept, state: { ...state, outline: [found.outline, ...rest] } };
}

export function isOf(principal: string): (kept: Kept | KeptOutline) => kept is Kept {
  return (kept): kept is Kept => "principal" in kept && kept.principal === principal;
}

export class Store {
  /** The outline that was written last. */
  private written: KeptOutline | null = null;

  private constructor(private readonly database: IDBPDatabase<Schema>) {}

  static async open(): Promise<Store> {
    return new Store(await openTables());
  }

  /** Writes it, and its outline if that is another one than was written last. */
  async keep(kept: Kept): Promise<void> {
    const { client, state } = kept;
    if (!hasOutline(state)) {
      await this.database.put("documents", kept);
      return;
    }
    const [outline, ...rest] = state.outline;
    const next: KeptOutline = { client, doc: `${OUTLINE}${kept.doc}`, outline };
    const work = this.database.transaction("documents", "readwrite");
    const all: Promise<unknown>[] = [work.done];
    all.push(work.store.put({ ...kept, state: { ...state, outline: [null, ...rest] } }));
    if (!isSame(next, this.written)) all.push(work.store.put(next));
    await Promise.all(all);
    this.written = next;
  }

  /** All that this person's tabs have left behind of a document. */
  async kept(doc: string, principal: string): Promise<Kept[]> {
    const { store } = this.database.transaction("documents");
    const all = (await store.index("doc").getAll(doc)).filter(isOf(principal));
    return Promise.all(all.map((kept) => whole(kept, (key) => store.get(key))));
  }

  /** The outline stays until `tidy`: the next edit rests on it again. */
  async forget(client: string, doc: string): Promise<void> {
    await this.database.delete("documents", [client, doc]);
  }

  /** The clients and documents of which only the outline is kept. */
  async untidy(): Promise<[client: string, doc: string][]> {
    const keys = await this.database.getAllKeys("documents");
    const known = new Set(keys.map(String));
    return keys
      .filter(([client, doc]) => doc.startsWith(OUTLINE) && !known.has(`${client},${idIn(doc)}`))
      .map(([client, doc]) => [client, idIn(doc)]);
  }

  /** Takes out an outline on which nothing rests that is to be sent. */
  async tidy(client: string, doc: string): Promise<void> {
    this.written = null;
    await this.database.delete("documents", [client, `${OUTLINE}${doc}`]);
  }

  async keepUpload(upload: KeptUpload): Promise<void> {
    await this.database.put("uploads", upload);
  }

  /** The pictures that this person's tabs could not send yet. */
  async uploads(doc: string, principal: string): Promise<KeptUpload[]> {
    const all = await this.database.getAllFromIndex("uploads", "doc", doc);
    return all.filter((kept) => kept.principal === principal);
  }

  async forgetUpload(id: string): Promise<void> {
    await this.database.delete("uploads", id);
  }

  close(): void {
    this.database.close();
  }
}

function isSame(one: KeptOutline, other: KeptOutline | null): boolean {
  if (other === null) return false;
  return one.outline === other.outline && one.client === other.client && one.doc === other.doc;
}
