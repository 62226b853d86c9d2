/** What a part of the files shows, and in which order. */

import { compare } from "../words/formats";
import type { View } from "./paths";
import type { DocumentRow, FileRow, FolderRow, Opened, WorkspaceRow } from "./types";

export type SortKey = "title" | "changed" | "who";
export interface Sort {
  readonly key: SortKey;
  readonly isDown: boolean;
}

/** All that a page knows, and what of it is asked for. */
export interface Files {
  readonly documents: ReadonlyMap<string, DocumentRow>;
  readonly folders: ReadonlyMap<string, FolderRow>;
  readonly workspaces: readonly WorkspaceRow[];
  readonly favourites: readonly string[];
  readonly recent: readonly Opened[];
}

const isThere = (row: FileRow): boolean => row.trashed === null;

/** The rows of a view, as they are to be shown. */
export function rowsIn(
  files: Files,
  view: View,
  search: string,
  who: string,
  sort: Sort,
): FileRow[] {
  const words = search.trim().toLocaleLowerCase();
  const isAsked = (row: FileRow): boolean =>
    (words === "" || row.title.toLocaleLowerCase().includes(words)) &&
    (who === "" || row.changedBy === who);
  const found = chosen(files, words === "" || view.kind === "trash" ? view : { kind: "all" });
  const folders = words === "" || view.kind === "trash" ? [] : [...files.folders.values()];
  const rows = [...found, ...folders.filter(isThere)].filter(isAsked);
  const isOrdered = words === "" && (view.kind === "recent" || view.kind === "favourites");
  return isOrdered ? rows : rows.sort(order(sort));
}

function chosen(files: Files, view: View): FileRow[] {
  const documents = [...files.documents.values()];
  const folders = [...files.folders.values()];
  const known = (id: string): FileRow | undefined =>
    files.documents.get(id) ?? files.folders.get(id);
  switch (view.kind) {
    case "all":
      return documents.filter(isThere);
    case "shared":
      return documents.filter((row) => isThere(row) && row.workspace === "");
    case "trash":
      return [...folders, ...documents].filter((row) => row.trashed?.own === true);
    case "recent":
      return files.recent.flatMap(({ id }) => known(id) ?? []).filter(isThere);
    case "favourites":
      return files.favourites.flatMap((id) => known(id) ?? []).filter(isThere);
    case "workspace":
      return [...folders, ...documents].filter(
        (row) => isThere(row) && row.workspace === view.id && row.folder === "",
      );
    case "folder":
      return [...folders, ...documents].filter((row) => isThere(row) && row.folder === view.id);
  }
}

/** Folders first, then by what was asked for, then by title. */
export function order(sort: Sort): (one: FileRow, other: FileRow) => number {
  const way = sort.isDown ? -1 : 1;
  return (one, other) => {
    if (one.kind !== other.kind) return one.kind === "folder" ? -1 : 1;
    return (
      way * by(sort.key, one, other) ||
      compare(one.title, other.title) ||
      (one.id < other.id ? -1 : 1)
    );
  };
}

function by(key: SortKey, one: FileRow, other: FileRow): number {
  if (key === "title") return compare(one.title, other.title);
  if (key === "who") return compare(one.changedBy, other.changedBy);
  return one.changed < other.changed ? -1 : one.changed > other.changed ? 1 : 0;
}

/** The folders that something is in, the outermost first; an address may name one that is gone. */
export function pathOf(files: Files, folder: string): FolderRow[] {
  const path: FolderRow[] = [];
  let found = files.folders.get(folder);
  while (found !== undefined && path.length < 16) {
    path.unshift(found);
    found = files.folders.get(found.folder);
  }
  return path;
}

/** Folders of a workspace right in another one, by name. */
export function foldersIn(files: Files, workspace: string, folder: string): FolderRow[] {
  return [...files.folders.values()]
    .filter((row) => isThere(row) && row.workspace === workspace && row.folder === folder)
    .sort((one, other) => compare(one.title, other.title));
}

const EDITORS: ReadonlySet<string> = new Set(["editor", "owner"]);

export function mayArrange(files: Files, workspace: string): boolean {
  const found = files.workspaces.find((one) => one.id === workspace);
  return found !== undefined && found.trashed === null && EDITORS.has(found.role);
}

/** Whether something may be made in a view: `space` is null where it goes where it fits. */
export function mayMakeIn(files: Files, view: View, space: string | null): boolean {
  return view.kind !== "trash" && (space === null || mayArrange(files, space));
}

/** Whether one may throw it away, and have it back. */
export function mayTidy(files: Files, row: FileRow): boolean {
  return (row.kind === "document" && row.role === "owner") || mayArrange(files, row.workspace);
}

export function mayDelete(files: Files, row: FileRow): boolean {
  const space = files.workspaces.find((one) => one.id === row.workspace);
  return row.kind === "document" ? row.role === "owner" : space?.role === "owner";
}

/** Whether a folder may be put there: not into itself. */
export function mayGoInto(files: Files, row: FileRow, folder: string): boolean {
  return row.kind === "document" || !pathOf(files, folder).some((one) => one.id === row.id);
}
