/** What the menus of files and workspaces offer. */

import { markdownPath } from "../api";
import { commonWords } from "../words/common";
import { filesWords } from "../words/files";
import { homeWords } from "../words/home";
import type { Choice } from "./choice";
import type { View } from "./paths";
import type { FileRow, FolderRow, WorkspaceRow } from "./types";
import { type Files, mayArrange, mayDelete, mayTidy } from "./views";

export interface Acts {
  readonly open: () => void;
  readonly rename: () => void;
  readonly duplicate: () => void;
  readonly move: () => void;
  readonly like: () => void;
  readonly shift: (isUp: boolean) => void;
  readonly throwAway: () => void;
  readonly restore: () => void;
  readonly delete: () => void;
}

type Offer = Choice | false;

const only = (offers: readonly Offer[]): Choice[] => offers.filter((one) => one !== false);

/** `isVisitor`: who came by a share link has no favourites, and nowhere to put a copy. */
export function choicesFor(
  files: Files,
  row: FileRow,
  view: View,
  isVisitor: boolean,
  acts: Acts,
): Choice[] {
  const tidies = mayTidy(files, row);
  if (row.trashed !== null) {
    const grave = { label: filesWords.deleteForGood, act: acts.delete, isGrave: true };
    return only([
      { id: "open", label: filesWords.open, act: acts.open },
      tidies && { id: "restore", label: filesWords.restore, act: acts.restore },
      mayDelete(files, row) && { id: "delete", ...grave, isFirst: true },
    ]);
  }
  const arranges = mayArrange(files, row.workspace);
  const isDocument = row.kind === "document";
  const isText = isDocument && !row.isPlace;
  const mayRename = isDocument ? row.role === "editor" || row.role === "owner" : arranges;
  const isLiked = files.favourites.includes(row.id);
  const isOrdered = view.kind === "favourites" && isLiked;
  const name = `${row.title || commonWords.untitled}.md`;
  return only([
    { id: "open", label: filesWords.open, act: acts.open },
    mayRename && { id: "rename", label: filesWords.rename, act: acts.rename },
    isDocument &&
      !isVisitor && { id: "duplicate", label: filesWords.duplicate, act: acts.duplicate },
    arranges && { id: "move", label: filesWords.moveTo, act: acts.move },
    !isVisitor && {
      id: "like",
      label: isLiked ? filesWords.dislike : filesWords.like,
      act: acts.like,
      isFirst: true,
    },
    isOrdered && { id: "up", label: filesWords.up, act: () => acts.shift(true) },
    isOrdered && { id: "down", label: filesWords.down, act: () => acts.shift(false) },
    isText && {
      id: "download",
      label: filesWords.download,
      act: () => undefined,
      href: markdownPath(row.id),
      download: name,
    },
    tidies && {
      id: "trash",
      label: filesWords.throwAway,
      act: acts.throwAway,
      isFirst: true,
      isGrave: true,
    },
  ]);
}

/** What the page is about. */
export function headingOf(
  view: View,
  folder: FolderRow | undefined,
  space: WorkspaceRow | undefined,
): string {
  switch (view.kind) {
    case "all":
      return homeWords.documents;
    case "folder":
      return folder?.title ?? filesWords.noSuchPlace;
    case "workspace":
      return space?.name ?? filesWords.noSuchPlace;
    case "recent":
      return filesWords.recent;
    case "favourites":
      return filesWords.favourites;
    case "shared":
      return filesWords.shared;
    case "trash":
      return filesWords.trash;
  }
}

export interface SpaceActs {
  readonly people: () => void;
  readonly rename: () => void;
  readonly delete: () => void;
}

/** The first workspace stays: the server says which that is, and refuses. */
const HOME = "home";

export function spaceChoices(one: WorkspaceRow, acts: SpaceActs, hasPeople: boolean): Choice[] {
  const isOwner = one.role === "owner";
  return only([
    hasPeople && { id: "people", label: filesWords.people, act: acts.people },
    isOwner && hasPeople && { id: "rename", label: filesWords.rename, act: acts.rename },
    isOwner &&
      one.id !== HOME && {
        id: "delete-workspace",
        label: filesWords.deleteWorkspace,
        act: acts.delete,
        isFirst: true,
        isGrave: true,
      },
  ]);
}
