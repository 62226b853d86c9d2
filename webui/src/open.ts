/** What a document page needs from the browser: sockets, timers, chance, store and locks. */

import { listSockets, socketUrl } from "./api";
import { browserLocks, type ClientLocks } from "./client-lock";
import type { ConnectionTools, Socket } from "./connection";
import { DocumentController, type DocumentState } from "./controller";
import { SUBPROTOCOL } from "./protocol/messages";
import { Store } from "./store";

const tools: ConnectionTools = {
  openSocket: (url) => {
    const socket = new WebSocket(url, SUBPROTOCOL);
    socket.binaryType = "arraybuffer";
    return socket as Socket;
  },
  after: (delay_ms, callback) => {
    const timer = setTimeout(callback, delay_ms);
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

let locks: ClientLocks | null = null;
let store: Promise<Store | null> | null = null;

/** Opens a document with all that this browser gives. */
export async function openDocument(
  doc: string,
  name: string,
  changed: (state: DocumentState) => void,
): Promise<DocumentController> {
  locks ??= browserLocks();
  // A browser that keeps nothing (some private windows) still edits; closing is asked about then.
  store ??= Store.open().catch(() => null);
  const own = socketUrl(location.origin) ?? "";
  const parts = { store: await store, locks, tools, urls: [own], changed };
  const controller = await DocumentController.open(doc, name, parts);
  void listSockets(own).then((urls) => controller.setUrls(urls));
  return controller;
}
