/** Tickets for sockets: each from the node that the socket goes to, anew for each connection. */

import { csrf, csrfHeader, fields, secure } from "../api";

const LIMIT_MS = 5_000;

/** The HTTP address of the node that has this socket. */
export function nodeOf(socket: string): string {
  const url = new URL(socket);
  return `${url.protocol === "wss:" ? "https:" : "http:"}//${url.host}`;
}

/** A ticket of the node of this socket; null when one has to sign in. Throws for another node's sake. */
export async function fetchTicket(socket: string): Promise<string | null> {
  const node = nodeOf(socket);
  const response = await ask(node, "/ticket", "POST", csrf());
  if (response.status === 401) return isOwnHost(node) ? null : await elsewhere(node);
  if (response.status === 403) return askAnew(node);
  return read(response);
}

/** The word against forgery may be another one: signed in in another tab, or at another host. */
async function askAnew(node: string): Promise<string | null> {
  const session = await ask(node, "/session", "GET", null);
  const found = fields(await session.json());
  if (session.ok && found.principal === null) return isOwnHost(node) ? null : elsewhere(node);
  const word = typeof found.csrf === "string" ? found.csrf : null;
  if (isOwnHost(node)) secure(word);
  return read(await ask(node, "/ticket", "POST", word));
}

async function read(response: Response): Promise<string> {
  const { ticket } = fields(await response.json());
  if (!response.ok || typeof ticket !== "string") throw new Error(`no ticket: ${response.status}`);
  return ticket;
}

function ask(node: string, path: string, method: string, word: string | null): Promise<Response> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const headers = csrfHeader(word);
  const how = { method, headers, credentials: "include", cache: "no-store" } as const;
  return fetch(`${node}/api/v1${path}`, { ...how, signal });
}

/** Browsers send a cookie to all ports of its host. */
function isOwnHost(node: string): boolean {
  return new URL(node).hostname === location.hostname;
}

/** One is signed in here, only not at that host. */
function elsewhere(node: string): never {
  throw new Error(`not signed in at ${node}`);
}
