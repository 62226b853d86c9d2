/** What a person sees of files: documents, folders, workspaces, and what is their own. */

import { ApiError, type Fields, fields, textOf } from "../api";
import { commonWords } from "../words/common";
import { filesWords } from "../words/files";

export interface Trashed {
  readonly at: string;
  readonly by: string;
  /** Thrown away by itself, not with something that it is in. */
  readonly own: boolean;
}

export interface DocumentRow {
  readonly kind: "document";
  /** A board, and no text. */
  readonly isPlace: boolean;
  readonly id: string;
  readonly title: string;
  /** "": shared with who is not in its workspace. */
  readonly workspace: string;
  /** "": at the top of the workspace. */
  readonly folder: string;
  readonly role: string;
  readonly changed: string;
  readonly changedBy: string;
  readonly trashed: Trashed | null;
}

export interface FolderRow {
  readonly kind: "folder";
  readonly id: string;
  readonly title: string;
  readonly workspace: string;
  readonly folder: string;
  readonly changed: string;
  readonly changedBy: string;
  readonly trashed: Trashed | null;
}

export type FileRow = DocumentRow | FolderRow;

export interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly trashed: Trashed | null;
}

export interface Opened {
  readonly id: string;
  readonly at: string;
}

/** Where a document is, and what one may do with it. */
export interface Place {
  readonly workspace: { readonly id: string; readonly name: string } | null;
  readonly path: readonly { readonly id: string; readonly name: string }[];
  readonly role: string;
  readonly mayMove: boolean;
  readonly mayTidy: boolean;
  readonly isFavourite: boolean;
  readonly trashed: Trashed | null;
}

export function rowsOf<T>(value: unknown, make: (value: Fields) => T): T[] {
  return Array.isArray(value) ? value.map((one) => make(fields(one))) : [];
}

function idOf(value: unknown): string {
  if (typeof value !== "string" || value === "") {
    throw new ApiError("bad_answer", commonWords.unreadable);
  }
  return value;
}

/** A person's name, or that their account is no more. */
function whoOf(value: Fields, field: string): string {
  return value[`${field}_erased`] === true ? filesWords.deletedAccount : textOf(value[field]);
}

function trashedOf(value: unknown): Trashed | null {
  if (typeof value !== "object" || value === null) return null;
  const { at, own } = fields(value);
  return { at: textOf(at), by: whoOf(fields(value), "by"), own: own === true };
}

export function documentOf(value: Fields): DocumentRow {
  return {
    kind: "document",
    isPlace: value.kind === "place",
    id: idOf(value.id),
    title: textOf(value.title),
    workspace: textOf(value.workspace),
    folder: textOf(value.folder),
    role: textOf(value.role),
    changed: textOf(value.changed),
    changedBy: whoOf(value, "changed_by"),
    trashed: trashedOf(value.trashed),
  };
}

export function folderOf(value: Fields): FolderRow {
  return {
    kind: "folder",
    id: idOf(value.id),
    title: textOf(value.name),
    workspace: textOf(value.workspace),
    folder: textOf(value.folder),
    changed: textOf(value.created),
    changedBy: whoOf(value, "by"),
    trashed: trashedOf(value.trashed),
  };
}

export function workspaceOf(value: Fields): WorkspaceRow {
  const trashed = trashedOf(value.trashed);
  return { id: idOf(value.id), name: textOf(value.name), role: textOf(value.role), trashed };
}

export function openedOf(value: Fields): Opened {
  return { id: idOf(value.id), at: textOf(value.at) };
}

export function placeOf(value: Fields): Place {
  const space = value.workspace === null ? null : fields(value.workspace);
  return {
    workspace: space && { id: textOf(space.id), name: textOf(space.name) },
    path: rowsOf(value.path, (one) => ({ id: idOf(one.id), name: textOf(one.name) })),
    role: textOf(value.role),
    mayMove: value.may_move === true,
    mayTidy: value.may_tidy === true,
    isFavourite: value.favourite === true,
    trashed: trashedOf(value.trashed),
  };
}
