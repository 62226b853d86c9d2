/** The parts of the files that have an address, and which address that is. */

export type View =
  | { readonly kind: "all" | "recent" | "favourites" | "shared" | "trash" }
  | { readonly kind: "workspace" | "folder"; readonly id: string };

const NAMED = ["recent", "favourites", "shared", "trash"] as const;

/** The view of a path; null for one that is none of these. */
export function viewOf(path: string): View | null {
  const found = /^\/(workspace|folder)\/([A-Za-z0-9_-]{1,64})\/?$/.exec(path);
  const [, kind, id] = found ?? [];
  if ((kind === "workspace" || kind === "folder") && id !== undefined) return { kind, id };
  const name = path.replace(/^\/|\/$/g, "");
  const named = NAMED.find((one) => one === name);
  if (named !== undefined) return { kind: named };
  return name === "" ? { kind: "all" } : null;
}

export function viewPath(view: View): string {
  if ("id" in view) return `/${view.kind}/${encodeURIComponent(view.id)}`;
  return view.kind === "all" ? "/" : `/${view.kind}`;
}
