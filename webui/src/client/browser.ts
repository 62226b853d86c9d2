/** What a session takes of the browser that it runs in, unless it is given something else. */

import type { ConnectionTools, Socket } from "../shared/link";

const PROTOCOL = "groupcore.objects.v1";

/** The address of a node's sockets, which may be given relative to the page. */
export function absolute(url: string): string {
  const found = new URL(url, globalThis.location?.href);
  found.protocol = found.protocol.replace("http", "ws");
  return found.href;
}

/** An id that nobody guesses. */
export function newClient(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A socket over which whole frames come as bytes. */
export function openSocket(url: string, protocol = PROTOCOL): Socket {
  const socket = new WebSocket(url, protocol);
  socket.binaryType = "arraybuffer";
  return socket as Socket;
}

export function after(delay_ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, delay_ms);
  return () => clearTimeout(timer);
}

/** Sockets, timers and chance of a browser. */
export const browserTools: ConnectionTools = { openSocket, after, random: Math.random };
