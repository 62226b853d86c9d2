/** The HTTP API of the node that served the page. */

import { randomId } from "./ids";
import { problemText } from "./problem";
import { commonWords } from "./words/common";

/** What a node said instead of an answer; the message is fit to be shown. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    /** The code of the problem, `unreachable` when no node has answered. */
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** What people read when something that they asked for was not done. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : commonWords.wentWrong;
}

const CSRF = "X-Groupcore-CSRF";
let word: string | null = null;
let whenSignedOut: () => void = () => undefined;

/** The word against forgery that requests have to say from now on. */
export function secure(csrf: string | null): void {
  word = csrf;
}

export function csrf(): string | null {
  return word;
}

export function csrfHeader(csrf: string | null): Record<string, string> {
  return csrf === null ? {} : { [CSRF]: csrf };
}

/** Called when a node says that nobody is signed in. */
export function onSignedOut(act: () => void): void {
  whenSignedOut = act;
}

/** Answers of a node that is cut off from the others. */
const old = new WeakSet<Fields>();

/** Whether the node that gave this answer was cut off: others may know newer things. */
export function isOld(answer: Fields): boolean {
  return old.has(answer);
}

/** Asks the node of the page; the fields of its answer, none of an empty one. */
export async function ask(path: string, init?: RequestInit): Promise<Fields> {
  let response: Response;
  const headers = { ...init?.headers, ...csrfHeader(word) };
  try {
    response = await fetch(path, { ...init, headers, signal: AbortSignal.timeout(15_000) });
  } catch {
    throw new ApiError("unreachable", commonWords.unreachable);
  }
  const body = fields(await response.json().catch(() => null));
  if (response.ok) {
    if (response.headers.get("Groupcore-Stale") === "true") old.add(body);
    return body;
  }
  const code = textOf(body.code);
  if (code === "unauthenticated") whenSignedOut();
  throw new ApiError(code, textOfProblem(body, code, response.status));
}

const KEPT_MAX = 8_000;

/** Sends JSON to the API; `isMaking`: a request that makes something, once. */
export function send(
  method: string,
  path: string,
  body?: unknown,
  isMaking = false,
): Promise<Fields> {
  const key = isMaking ? { "Idempotency-Key": randomId() } : {};
  const headers = { "Content-Type": "application/json", ...key };
  const content = body === undefined ? "" : JSON.stringify(body);
  // It is done though its page is left at once. Browsers keep little of that kind.
  const keepalive = content.length < KEPT_MAX;
  return ask(`/api/v1${path}`, { method, headers, keepalive, ...(content && { body: content }) });
}

export function textOfProblem(body: Fields, code: string, status: number): string {
  const detail = [body.detail, body.title].map(textOf).find((text) => text !== "") ?? "";
  if (code === "" && detail === "") return commonWords.serverError(status);
  return problemText(code, detail, Array.isArray(body.nodes) ? body.nodes.join(", ") : "");
}

export type Fields = Readonly<Record<string, unknown>>;

export function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A list in an answer. */
export function listOf(answer: Fields, name: string): readonly unknown[] {
  const list = answer[name];
  if (!Array.isArray(list)) throw new ApiError("bad_answer", commonWords.unreadable);
  return list;
}

/** The texts of all blocks of a document, by their ids. */
export async function blockTexts(id: string): Promise<ReadonlyMap<string, string>> {
  const { blocks } = await ask(`/api/v1/documents/${encodeURIComponent(id)}`);
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
    const { nodes } = await ask("/api/v1/nodes");
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
