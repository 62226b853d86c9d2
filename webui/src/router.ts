/** Which page an address shows. */

export type Route = { readonly page: "home" } | { readonly page: "document"; readonly id: string };

/** The route of a path; what is unknown shows the home page. */
export function routeOf(path: string): Route {
  const id = /^\/doc\/([A-Za-z0-9_-]{1,64})\/?$/.exec(path)?.[1];
  return id === undefined ? { page: "home" } : { page: "document", id };
}

/** The path of a document. */
export function documentPath(id: string): string {
  return `/doc/${encodeURIComponent(id)}`;
}
