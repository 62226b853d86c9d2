/** Sends pictures; it is loaded when there is one to be sent, which takes a connection anyway. */

import {
  ApiError,
  csrf,
  csrfHeader,
  type Fields,
  fields,
  send,
  textOf,
  textOfProblem,
} from "../api";
import { commonWords } from "../words/common";
import { isHash, picturesPath, type Sending, type StoredPicture } from "./sending";

const SILENCE_MS = 60_000;

function stored(body: Fields): StoredPicture {
  const { picture, width, height } = body;
  if (!isHash(picture) || typeof width !== "number" || typeof height !== "number") {
    throw new ApiError("bad_answer", commonWords.unreadable);
  }
  return { picture, width, height };
}

/** Sends a file into a document, or where else `path` says; ApiError, with the code `cancelled` when the signal says so. */
export function sendPicture(
  doc: string,
  file: Blob,
  { signal, progress }: Sending,
  path = picturesPath(doc),
): Promise<StoredPicture> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const fail = (code: string): void => reject(new ApiError(code, commonWords.unreachable));
    request.open("POST", `/api/v1${path}`);
    request.responseType = "json";
    request.timeout = SILENCE_MS;
    request.setRequestHeader("Content-Type", "application/octet-stream");
    for (const [name, value] of Object.entries(csrfHeader(csrf()))) {
      request.setRequestHeader(name, value);
    }
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
    request.onerror = () => fail("unreachable");
    request.ontimeout = () => fail("unreachable");
    request.onabort = () => fail("cancelled");
    request.onload = () => {
      try {
        resolve(answer(request));
      } catch (error) {
        reject(error);
      }
    };
    signal.addEventListener("abort", () => request.abort(), { once: true });
    if (signal.aborted) fail("cancelled");
    else request.send(file);
  });
}

function answer(request: XMLHttpRequest): StoredPicture {
  const body = fields(request.response);
  if (request.status === 201) return stored(body);
  const code = textOf(body.code);
  throw new ApiError(code, textOfProblem(body, code, request.status));
}

/** Has a picture of another document, or of this one, belong to this one from now on. */
export async function copyPicture(
  doc: string,
  from: string,
  picture: string,
  path = picturesPath(doc),
): Promise<StoredPicture> {
  return stored(await send("POST", path, { from, picture }));
}
