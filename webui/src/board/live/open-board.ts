/** What the page of a place needs from the browser: sockets, timers, who one is. */

import type { Identity } from "../../account/session";
import { fetchTicket } from "../../account/ticket";
import { ask, listSockets, socketUrl, textOf } from "../../api";
import { connect } from "../../client/session";
import type { Socket } from "../../shared/link";
import { SUBPROTOCOL } from "../../subprotocol";
import { BoardController, type BoardParts } from "./controller";

function openSocket(url: string): Socket {
  const socket = new WebSocket(url, SUBPROTOCOL);
  socket.binaryType = "arraybuffer";
  return socket as Socket;
}

function after(delay_ms: number, act: () => void): () => void {
  const timer = setTimeout(act, delay_ms);
  return () => clearTimeout(timer);
}

export function openBoard(
  id: string,
  name: string,
  identity: Identity,
  told: Pick<BoardParts, "changed" | "drawn" | "write">,
): BoardController {
  const own = socketUrl(location.origin) ?? "";
  const ticket = identity.hasAccounts ? { ticket: fetchTicket } : {};
  const role = identity.hasAccounts ? { role: () => roleIn(id) } : {};
  const session: BoardParts["session"] = (onState) =>
    connect([own], { openSocket, after, onState, ...ticket });
  const controller = new BoardController(id, {
    session,
    after,
    now_ms: () => Date.now(),
    name,
    ...role,
    ...told,
  });
  void listSockets(own).then((urls) => {
    controller.session.urls = urls;
  });
  return controller;
}

async function roleIn(id: string): Promise<string> {
  return textOf((await ask(`/api/v1/documents/${encodeURIComponent(id)}/place`)).role);
}
