/** What a document page needs from the browser: sockets, timers, store and locks. */

import type { Identity } from "./account/session";
import { fetchTicket } from "./account/ticket";
import { ask, blockTexts, listSockets, socketUrl, textOf } from "./api";
import { connect } from "./client";
import { after, openSocket } from "./client/browser";
import { browserLocks, type ClientLocks } from "./client-lock";
import { DocumentController, type DocumentState } from "./controller";
import { openModel } from "./document/model";
import type { UploadParts } from "./pictures/uploads";
import { Store } from "./store";
import { SUBPROTOCOL } from "./subprotocol";

const transfer = () => import("./pictures/transfer");
const pictures: Pick<UploadParts, "send" | "copy"> = {
  send: async (...given) => (await transfer()).sendPicture(...given),
  copy: async (...given) => (await transfer()).copyPicture(...given),
};

let locks: ClientLocks | null = null;
let store: Promise<Store | null> | null = null;

/** Opens a document with all that this browser gives. */
export async function openDocument(
  doc: string,
  name: string,
  identity: Identity,
  changed: (state: DocumentState) => void,
): Promise<DocumentController> {
  locks ??= browserLocks();
  // A browser that keeps nothing (some private windows) still edits; closing is asked about then.
  store ??= Store.open().catch(() => null);
  const own = socketUrl(location.origin) ?? "";
  const tools = {
    pictures,
    locks,
    connect,
    openModel,
    openSocket: (url: string) => openSocket(url, SUBPROTOCOL),
    after,
    texts: blockTexts,
  };
  const principal = identity.principal ?? "";
  const entry = { role: roleIn, ...(identity.hasAccounts ? { ticket: fetchTicket } : {}) };
  const parts = { ...tools, ...entry, principal, store: await store, urls: [own], changed };
  const controller = await DocumentController.open(doc, name, parts);
  const learn = () => void listSockets(own).then((urls) => controller.setUrls(urls));
  learn();
  // Who has come up without a connection has learnt of none.
  if (!navigator.onLine) addEventListener("online", learn, { once: true });
  return controller;
}

async function roleIn(doc: string): Promise<string> {
  return textOf((await ask(`/api/v1/documents/${encodeURIComponent(doc)}/place`)).role);
}
