/** Frames: one binary msgpack array of messages, both ways. */

import { decode, encode } from "@msgpack/msgpack";
import { type ClientMessage, ProtocolError, readMessages, type ServerMessage } from "./messages";

/** One frame with 1 to 64 messages. */
export function encodeFrame(messages: readonly ClientMessage[]): Uint8Array<ArrayBuffer> {
  return encode(messages, { ignoreUndefined: true });
}

/** The size of one message in a frame. */
export function messageBytes(message: ClientMessage): number {
  return encode(message, { ignoreUndefined: true }).byteLength;
}

/** The messages of a frame; throws ProtocolError when it is not of the documented form. */
export function decodeFrame(data: unknown): ServerMessage[] {
  if (!(data instanceof ArrayBuffer) && !ArrayBuffer.isView(data)) {
    throw new ProtocolError("a frame must be binary");
  }
  let frame: unknown;
  try {
    frame = decode(data);
  } catch (error) {
    throw new ProtocolError(`a frame must be msgpack: ${String(error)}`);
  }
  return readMessages(frame);
}
