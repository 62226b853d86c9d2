/** What must outlive the tab, in IndexedDB: a record for each client and document. */

import { type DBSchema, type IDBPDatabase, openDB } from "idb";
import type { Draft, StoredSession } from "./session/state";

interface Schema extends DBSchema {
  sessions: { key: [string, string]; value: StoredSession; indexes: { doc: string } };
}

const NAME = "groupcore";
const VERSION = 1;

function createTables(fresh: IDBPDatabase<Schema>): void {
  const sessions = fresh.createObjectStore("sessions", { keyPath: ["client", "doc"] });
  sessions.createIndex("doc", "doc");
}

export class Store {
  private constructor(private readonly database: IDBPDatabase<Schema>) {}

  static async open(): Promise<Store> {
    const database = await openDB<Schema>(NAME, VERSION, {
      upgrade: createTables,
    });
    return new Store(database);
  }

  /** Keeps a session as it is now; one with nothing of the person's in it is forgotten. */
  async keep(session: StoredSession, isWorthKeeping: boolean): Promise<void> {
    if (isWorthKeeping) await this.database.put("sessions", session);
    else await this.database.delete("sessions", [session.client, session.doc]);
  }

  /** All kept sessions of a document. */
  async sessions(doc: string): Promise<StoredSession[]> {
    return this.database.getAllFromIndex("sessions", "doc", doc);
  }

  async forget(client: string, doc: string): Promise<void> {
    await this.database.delete("sessions", [client, doc]);
  }

  close(): void {
    this.database.close();
  }
}

/** The part of a kept session that another session may take over when nothing is unsent in it. */
export function draftsOf(stored: StoredSession): readonly Draft[] {
  return stored.inFlight === null && stored.pending.length === 0 ? stored.drafts : [];
}

/** The documents for which this browser keeps edits that no node has taken yet. */
export async function documentsWithKeptEdits(): Promise<ReadonlySet<string>> {
  const database = await openDB<Schema>(NAME, VERSION, { upgrade: createTables });
  const sessions = await database.getAll("sessions");
  database.close();
  const kept = sessions.filter(({ inFlight, pending }) => inFlight !== null || pending.length > 0);
  return new Set(kept.map(({ doc }) => doc));
}
