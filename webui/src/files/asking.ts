/** What a page asks of the node about files. */

import { ApiError, ask, type Fields, send, textOf } from "../api";
import { randomId } from "../ids";
import { commonWords } from "../words/common";
import { sizeOf } from "../words/formats";
import { homeWords } from "../words/home";
import { type FolderRow, folderOf, type Place, placeOf } from "./types";

const part = encodeURIComponent;

export function allFiles(): Promise<Fields> {
  return ask("/api/v1/files");
}

export async function documentPlace(id: string): Promise<Place> {
  return placeOf(await ask(`/api/v1/documents/${part(id)}/place`));
}

/** Where something is put: a workspace, and a folder in it or "" for its top. */
export interface Target {
  readonly workspace: string;
  readonly folder: string;
}

const within = (folder: string): { folder?: string } => (folder === "" ? {} : { folder });

export async function makeFolder(name: string, at: Target): Promise<FolderRow> {
  const body = { name, workspace: at.workspace, ...within(at.folder) };
  return folderOf(await send("POST", "/folders", body, true));
}

export async function renameFolder(id: string, name: string): Promise<void> {
  await send("PATCH", `/folders/${part(id)}`, { name });
}

export function renameDocument(id: string, title: string): Promise<void> {
  return retitle("documents", id, title);
}

export function renamePlace(id: string, title: string): Promise<void> {
  return retitle("places", id, title);
}

/** Makes a document with the same blocks, or a place with the same things; its id. */
export async function duplicate(id: string, title: string, kind = "documents"): Promise<string> {
  return textOf((await send("POST", `/${kind}/${part(id)}/duplicate`, { title }, true)).id);
}

export async function move(items: readonly string[], to: Target): Promise<void> {
  await send("POST", "/files/move", { items, workspace: to.workspace, ...within(to.folder) });
}

export async function throwAway(items: readonly string[]): Promise<void> {
  await send("POST", "/files/trash", { items });
}

export async function restore(items: readonly string[]): Promise<void> {
  await send("POST", "/files/restore", { items });
}

export async function deleteForGood(items: readonly string[]): Promise<void> {
  await send("POST", "/files/delete", { items });
}

export async function like(id: string): Promise<void> {
  await send("PUT", `/me/favourites/${part(id)}`, {});
}

/** Puts a favourite before another one; "": last. */
export async function likeBefore(id: string, before: string): Promise<void> {
  await send("PUT", `/me/favourites/${part(id)}`, before === "" ? {} : { before });
}

export async function dislike(id: string): Promise<void> {
  await send("DELETE", `/me/favourites/${part(id)}`);
}

export async function makeWorkspace(name: string): Promise<string> {
  return textOf((await send("POST", "/workspaces", { name }, true)).id);
}

export async function renameWorkspace(id: string, name: string): Promise<void> {
  await send("PATCH", `/workspaces/${part(id)}`, { name });
}

/** Deletes an empty workspace; with all that is in it, it goes to the trash. */
export async function removeWorkspace(id: string): Promise<void> {
  await send("POST", `/workspaces/${part(id)}/trash`, { documents: true });
}

/** Gives a document or a board another title. */
async function retitle(of: "documents" | "places", id: string, title: string): Promise<void> {
  await send("PATCH", `/${of}/${part(id)}`, { title });
}

/** Makes an empty document or board there; its id. The same for the same key. */
export async function createAt(
  title: string,
  at: Target | null,
  key: string,
  of: "documents" | "places" = "documents",
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const place = at === null ? {} : { workspace: at.workspace, ...within(at.folder) };
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
  const body = JSON.stringify({ title, ...place, ...more });
  return textOf((await ask(`/api/v1/${of}`, { method: "POST", headers, body })).id);
}

/** Makes a document of a Markdown file there; its id. ApiError for one over `mostKib`. */
export async function importFile(file: File, at: Target | null, mostKib: number): Promise<string> {
  if (file.size > mostKib * 1024) {
    throw new ApiError("too_large", homeWords.tooLarge(file.name, sizeOf(mostKib)));
  }
  const title = file.name.replace(/\.(md|markdown|txt)$/i, "").slice(0, 200);
  const asked = new URLSearchParams({ title: title || commonWords.untitled });
  if (at !== null) asked.set("workspace", at.workspace);
  if (at !== null && at.folder !== "") asked.set("folder", at.folder);
  const headers = { "Content-Type": "text/markdown", "Idempotency-Key": randomId() };
  const path = `/api/v1/documents/import?${asked}`;
  const body = await file.text();
  return textOf((await ask(path, { method: "POST", headers, body })).id);
}
