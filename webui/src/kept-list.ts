/** What the store has of all documents, for pages that show none. */

import { isOf, isUnsent, type Kept, type KeptUpload, openTables, whole } from "./store";

/** The documents for which this browser keeps this person's edits that no node has taken yet. */
export function documentsWithKeptEdits(principal: string): Promise<ReadonlySet<string>> {
  return documentsWith(principal, isUnsent);
}

/** The documents in which texts of this person had no place, and wait to be put somewhere. */
export function documentsWithKeptTexts(principal: string): Promise<ReadonlySet<string>> {
  return documentsWith(principal, ({ drafts }) => drafts.length > 0);
}

async function documentsWith(
  principal: string,
  holds: (kept: Kept) => boolean,
): Promise<ReadonlySet<string>> {
  const database = await openTables();
  const all = await database.getAll("documents");
  database.close();
  return new Set(
    all
      .filter(isOf(principal))
      .filter(holds)
      .map(({ doc }) => doc),
  );
}

/** All that this person's tabs have left behind, and the pictures that they could not send. */
export async function everythingKept(principal: string): Promise<[Kept[], KeptUpload[]]> {
  const database = await openTables();
  try {
    const work = database.transaction(["documents", "uploads"]);
    const documents = work.objectStore("documents");
    const kept = (await documents.getAll()).filter(isOf(principal));
    const all = await Promise.all(kept.map((one) => whole(one, (key) => documents.get(key))));
    const uploads = await work.objectStore("uploads").getAll();
    return [all, uploads.filter((one) => one.principal === principal)];
  } finally {
    database.close();
  }
}
