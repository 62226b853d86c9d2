/** Passkeys: keys in a device, by the browser's navigator.credentials. */

import { ApiError, ask, fields, listOf, send, textOf } from "../api";
import { credentialWords } from "../words/credentials";
import { type Identity, identityOf } from "./session";

export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly created: string;
}

/** Whether this browser has passkeys for this page: not for one whose host has no name. */
export function hasPasskeys(): boolean {
  const isNumber = /^[\d.]+$|^\[/.test(location.hostname);
  return !isNumber && typeof window.PublicKeyCredential?.parseRequestOptionsFromJSON === "function";
}

/** What the browser said, as JSON; ApiError where the person or the device did not want to. */
async function said(asked: Promise<Credential | null>): Promise<string> {
  const found = await asked.catch(() => null);
  if (!(found instanceof PublicKeyCredential)) {
    throw new ApiError("bad_passkey", credentialWords.noPasskey);
  }
  return JSON.stringify(found.toJSON());
}

/** Signs in by a passkey: alone, or behind the password or the provider. */
export async function signInByPasskey(alone: boolean): Promise<Identity> {
  const { options } = await send("POST", "/session/passkey/begin", { alone });
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  const credential = await said(navigator.credentials.get({ publicKey }));
  return identityOf(await send("POST", "/session/passkey", { credential }));
}

/** Makes a passkey; codes for recovery where it is the first second factor. */
export async function addPasskey(name: string, current: string): Promise<readonly string[]> {
  const { options } = await send("POST", "/me/passkeys/begin");
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = await said(navigator.credentials.create({ publicKey }));
  const known = current === "" ? {} : { current };
  const answer = await send("POST", "/me/passkeys", { credential, name, ...known });
  return listOf(answer, "recovery").map(textOf);
}

export async function ownPasskeys(): Promise<Passkey[]> {
  return listOf(await ask("/api/v1/me/passkeys"), "passkeys").map((value) => {
    const { id, name, created } = fields(value);
    return { id: textOf(id), name: textOf(name), created: textOf(created) };
  });
}

export async function removePasskey(id: string, code: string): Promise<void> {
  await send("POST", `/me/passkeys/${encodeURIComponent(id)}/remove`, { code });
}
