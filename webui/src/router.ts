/** Which page an address shows. */

import { type View, viewOf } from "./files/paths";

/** Pages that are also for who is not signed in. */
const OPEN = ["sign-in", "welcome", "join", "share", "forgotten", "reset", "confirm"] as const;
const PLAIN = [...OPEN, "account", "people", "accounts"] as const;

export type PlainPage = (typeof PLAIN)[number];
export type Route =
  | { readonly page: PlainPage }
  | { readonly page: "home"; readonly view: View }
  | { readonly page: "document" | "place"; readonly id: string }
  | { readonly page: "admin"; readonly part: string; readonly id: string }
  | { readonly page: "nowhere" };

/** The route of a path. */
export function routeOf(path: string): Route {
  const [, kind, id] = /^\/(doc|p)\/([A-Za-z0-9_-]{1,64})\/?$/.exec(path) ?? [];
  if (id !== undefined) return { page: kind === "p" ? "place" : "document", id };
  const admin = /^\/admin(?:\/([a-z]{1,20})(?:\/([\w.-]{1,200}))?)?\/?$/.exec(path);
  if (admin !== null) return { page: "admin", part: admin[1] ?? "", id: admin[2] ?? "" };
  const name = path.replace(/^\/|\/$/g, "");
  const page = PLAIN.find((page) => page === name);
  if (page !== undefined) return { page };
  const view = viewOf(path);
  return view === null ? { page: "nowhere" } : { page: "home", view };
}

/** Whether a path is one of this page's own. */
export function isOurPath(path: string): boolean {
  return routeOf(path).page !== "nowhere";
}

export function isOpenToAll(route: Route): boolean {
  return route.page === "nowhere" || OPEN.some((page) => page === route.page);
}

/** Whether a click follows its link here, and opens no other tab. */
export function isPlain({ button, metaKey, ctrlKey, shiftKey }: MouseEvent): boolean {
  return button === 0 && !metaKey && !ctrlKey && !shiftKey;
}

/** The path of a document. */
export function documentPath(id: string): string {
  return `/doc/${encodeURIComponent(id)}`;
}

/** The path of a place. */
export function placePath(id: string): string {
  return `/p/${encodeURIComponent(id)}`;
}

/** The sign-in page that leads back to this path. */
export function signInPath(back: string): string {
  return back === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(back)}`;
}

/** Where to go back to behind a sign-in: a path of this page, never another site. */
export function safeReturn(path: string | null): string {
  if (path === null || !/^\/(?![/\\])/.test(path)) return "/";
  const url = new URL(path, location.origin);
  const isOurs = url.origin === location.origin && !url.pathname.startsWith("/sign-in");
  return isOurs ? url.pathname : "/";
}
