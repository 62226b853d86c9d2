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

interface Schema extends DBSchema {
  documents: { key: [string, string]; value: Kept; indexes: { doc: string } };
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
    for (const kept of await table.getAll()) await table.put({ ...kept, principal: "guest" });
    return;
  }
  const documents = database.createObjectStore("documents", { keyPath: ["client", "doc"] });
  documents.createIndex("doc", "doc");
}

export class Store {
  private constructor(private readonly database: IDBPDatabase<Schema>) {}

  static async open(): Promise<Store> {
    return new Store(await openDB<Schema>(NAME, VERSION, { upgrade: createTables }));
  }

  async keep(kept: Kept): Promise<void> {
    await this.database.put("documents", kept);
  }

  /** All that this person's tabs have left behind of a document. */
  async kept(doc: string, principal: string): Promise<Kept[]> {
    const all = await this.database.getAllFromIndex("documents", "doc", doc);
    return all.filter((kept) => kept.principal === principal);
  }

  async forget(client: string, doc: string): Promise<void> {
    await this.database.delete("documents", [client, doc]);
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

/** The documents for which this browser keeps this person's edits that no node has taken yet. */
export async function documentsWithKeptEdits(principal: string): Promise<ReadonlySet<string>> {
  const database = await openDB<Schema>(NAME, VERSION, { upgrade: createTables });
  const all = await database.getAll("documents");
  database.close();
  return new Set(
    all.filter((kept) => kept.principal === principal && kept.state !== null).map(({ doc }) => doc),
  );
}
