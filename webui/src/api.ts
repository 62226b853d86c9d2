/** The HTTP API of the node that served the page. */

export interface DocumentSummary {
  readonly id: string;
  readonly title: string;
  readonly blocks?: number;
}

/** What a node said instead of an answer; the message is fit to be shown. */
export class ApiError extends Error {
  override readonly name = "ApiError";
}

async function ask(path: string, init?: RequestInit): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, signal: AbortSignal.timeout(15_000) });
  } catch {
    throw new ApiError("The server cannot be reached. Check your connection and try again.");
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(problemText(body, response.status));
  return body;
}

function problemText(body: unknown, status: number): string {
  const { detail, title } = fields(body);
  const text = [detail, title].find((part) => typeof part === "string" && part !== "");
  return typeof text === "string" ? text : `The server answered with an error (${status}).`;
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function summary(value: unknown): DocumentSummary {
  const { id, title, blocks } = fields(value);
  if (typeof id !== "string") throw new ApiError("The server's answer could not be read.");
  const name = typeof title === "string" ? title : "";
  return typeof blocks === "number" ? { id, title: name, blocks } : { id, title: name };
}

const TITLES = new Intl.Collator(undefined, { numeric: true });

/** All documents, by title as people sort: 2 before 10. */
export async function listDocuments(): Promise<DocumentSummary[]> {
  const { documents } = fields(await ask("/api/v1/documents"));
  if (!Array.isArray(documents)) throw new ApiError("The server's answer could not be read.");
  return documents.map(summary).sort((one, other) => TITLES.compare(one.title, other.title));
}

/** Creates a document once, however often the request is repeated under the same key. */
export async function createDocument(title: string, key: string): Promise<DocumentSummary> {
  const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
  const body = JSON.stringify({ title });
  return summary(await ask("/api/v1/documents", { method: "POST", headers, body }));
}

/** Makes a document of Markdown text. */
export async function importMarkdown(
  title: string,
  markdown: string,
  key: string,
): Promise<DocumentSummary> {
  const headers = { "Content-Type": "text/markdown", "Idempotency-Key": key };
  const path = `/api/v1/documents/import?title=${encodeURIComponent(title)}`;
  return summary(await ask(path, { method: "POST", headers, body: markdown }));
}

/** The texts of all blocks of a document, by their ids. */
export async function blockTexts(id: string): Promise<ReadonlyMap<string, string>> {
  const { blocks } = fields(await ask(`/api/v1/documents/${encodeURIComponent(id)}`));
  const list = Array.isArray(blocks) ? blocks.map(fields) : [];
  return new Map(list.map((block) => [String(block.id), String(block.text ?? "")]));
}

/** The address of a document's Markdown. */
export function markdownPath(id: string): string {
  return `/api/v1/documents/${encodeURIComponent(id)}/markdown`;
}

/** The WebSocket addresses of the nodes, the page's own first; only its own when none are known. */
export async function listSockets(own: string): Promise<string[]> {
  try {
    const { nodes } = fields(await ask("/api/v1/nodes"));
    const urls = Array.isArray(nodes) ? nodes.map((node) => fields(node).url) : [];
    const others = urls.filter((url) => typeof url === "string").map(socketUrl);
    return [...new Set([own, ...others.filter((url) => url !== null)])];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return [own];
  }
}

/** The address of `/ws` at a node's public address; null when that is no such address. */
export function socketUrl(base: string): string | null {
  if (!URL.canParse("/ws", base)) return null;
  const url = new URL("/ws", base);
  if (!["http:", "https:"].includes(url.protocol)) return null;
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
