/** The connection over which documents are edited: docs/protocol-browser.md on a `Link`. */

import { decodeFrame, encodeFrame } from "./protocol/codec";
import {
  type ClientMessage,
  ProtocolError,
  type ServerMessage,
  type Welcome,
} from "./protocol/messages";
import { type ConnectionTools, Link, type LinkOwner } from "./shared/link";

export type { ConnectionTools, Socket, Stopped } from "./shared/link";
export type ConnectionOwner = LinkOwner<ServerMessage, Welcome>;

const STOPS: Readonly<Record<number, string>> = {
  1008: "The server refused what this page sent. Reload the page.",
  1009: "This page sent more than the server takes. Reload the page.",
  4404: "There is no such document.",
  4403: "You may not open this any more.",
  4409: "This tab's edits are being sent from another tab. Reload the page to go on here.",
  4426: "This page is older than the server. Reload the page.",
};

interface Identity {
  readonly client: string;
  readonly name: string;
}

export class Connection extends Link<ClientMessage, ServerMessage, Welcome> {
  private readonly identity: { current: Identity };

  /** `urls`: addresses of the nodes' `/ws`, this page's own first. */
  constructor(
    urls: readonly string[],
    identity: Identity,
    owner: ConnectionOwner,
    tools: ConnectionTools,
  ) {
    const held = { current: identity };
    const greeting = (): ClientMessage => ({ t: "hello", v: 1, ...held.current });
    const speech = { greeting, pong, encode: encodeFrame, decode: read, stops: STOPS };
    super(urls, speech, owner, tools);
    this.identity = held;
  }

  /** Goes on under another client id or name: a new connection says so. */
  identify(identity: Identity): void {
    this.identity.current = identity;
    this.retryNow();
  }
}

const pong: ClientMessage = { t: "pong" };

function read(data: unknown): ServerMessage[] | null {
  try {
    return decodeFrame(data);
  } catch (error) {
    if (error instanceof ProtocolError) return null;
    throw error;
  }
}
