/** Pictures on their way to a node, and their addresses. */

/** A picture as a node keeps it. */
export interface StoredPicture {
  /** Its hash. */
  readonly picture: string;
  readonly width: number;
  readonly height: number;
}

export interface Sending {
  readonly signal: AbortSignal;
  /** How much is sent: 0 to 1. */
  readonly progress: (part: number) => void;
}

/** The kinds of pictures that nodes take. */
export const ACCEPTED = "image/png,image/jpeg,image/gif,image/webp";

const HASH = /^[0-9a-f]{64}$/;

/** Whether this can be the hash of a picture. */
export const isHash = (text: unknown): text is string =>
  typeof text === "string" && HASH.test(text);

/** Where a document's pictures are. */
export function picturesPath(doc: string): string {
  return `/documents/${encodeURIComponent(doc)}/pictures`;
}

/** The address of a picture at this node, or at another one. */
export function pictureUrl(doc: string, picture: string, node = ""): string {
  return `${node}/api/v1${picturesPath(doc)}/${picture}`;
}
