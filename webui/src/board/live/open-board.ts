/** What the page of a place needs from the browser: sockets, timers, who one is. */

import type { Identity } from "../../account/session";
import { fetchTicket } from "../../account/ticket";
import { ask, fields, listSockets, socketUrl, textOf } from "../../api";
import { after, openSocket } from "../../client/browser";
import { connect } from "../../client/session";
import { browserLocks, type ClientLocks } from "../../client-lock";
import { Store } from "../../store";
import { SUBPROTOCOL } from "../../subprotocol";
import { loadVoter } from "../../voter";
import { loadImage, placePicturesPath } from "../pictures/album";
import { BoardController, type BoardParts } from "./controller";
import type { Names } from "./talk";

const socket = (url: string) => openSocket(url, SUBPROTOCOL);
const transfer = () => import("../../pictures/transfer");
const pictures: BoardParts["pictures"] = {
  send: async (place, file, how) =>
    (await transfer()).sendPicture(place, file, how, placePicturesPath(place)),
  copy: async (place, from, picture) =>
    (await transfer()).copyPicture(place, from, picture, placePicturesPath(place)),
  load: loadImage,
};

const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** A link that is followed: the page goes to its own ones, and others get a tab that knows nothing of it. */
function go(to: string): void {
  if (!to.startsWith("/")) {
    window.open(to, "_blank", "noopener,noreferrer");
    return;
  }
  const link = document.createElement("a");
  link.href = to;
  document.body.append(link);
  link.click();
  link.remove();
}

let locks: ClientLocks | null = null;
let store: Promise<Store | null> | null = null;

export async function openBoard(
  id: string,
  name: string,
  identity: Identity,
  told: Pick<BoardParts, "changed" | "drawn" | "read" | "write">,
): Promise<BoardController> {
  locks ??= browserLocks();
  // A browser that keeps nothing (some private windows) still draws; closing is asked about then.
  store ??= Store.open().catch(() => null);
  const own = socketUrl(location.origin) ?? "";
  const ticket = identity.hasAccounts ? { ticket: fetchTicket } : {};
  const role = identity.hasAccounts ? { role: () => roleIn(id) } : {};
  const controller = await BoardController.open(id, {
    session: (options) => connect([own], { openSocket: socket, after, ...options, ...ticket }),
    store: await store,
    locks,
    pictures,
    principal: identity.principal ?? "",
    isShared: !identity.hasAccounts || identity.isVisitor,
    voter: loadVoter(),
    isCalm: () => calm.matches,
    go,
    after,
    now_ms: () => Date.now(),
    name,
    ...role,
    ...(identity.hasAccounts ? { names: () => namesIn(id) } : {}),
    removeRemark: (remark) => removeRemark(id, remark),
    ...told,
  });
  const learn = (): void =>
    void listSockets(own).then((urls) => {
      controller.session.urls = urls;
    });
  learn();
  // Who has come up without a connection has learnt of none.
  if (!navigator.onLine) addEventListener("online", learn, { once: true });
  return controller;
}

/** Of those who have said something in the chat; null: the account was erased. */
async function namesIn(id: string): Promise<Names> {
  const { remarks } = await ask(talkPath(id));
  const rows = Array.isArray(remarks) ? remarks.map(fields) : [];
  return new Map(rows.map((row) => [textOf(row.author), row.by_erased ? null : textOf(row.by)]));
}

async function removeRemark(id: string, remark: string): Promise<void> {
  await ask(`${talkPath(id)}/${encodeURIComponent(remark)}`, { method: "DELETE" });
}

function talkPath(id: string): string {
  return `/api/v1/places/${encodeURIComponent(id)}/talk`;
}

async function roleIn(id: string): Promise<string> {
  return textOf((await ask(`/api/v1/documents/${encodeURIComponent(id)}/place`)).role);
}
