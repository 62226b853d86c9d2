/** One's address, password and second factor, and those of others for who manages accounts. */

import { ask, fields, listOf, send, textOf } from "../api";
import { alsoKnown } from "../problem";
import { credentialWords } from "../words/credentials";
import { type Account, accountOf } from "./session";

alsoKnown(credentialWords);

export interface Credentials extends Account {
  /** Whether the address is known to be the person's. */
  readonly isProved: boolean;
  readonly hasFactor: boolean;
  /** Whether one may sign in at the identity provider. */
  readonly isLinked: boolean;
  /** How often somebody failed to sign in lately, and when last; null: nobody. */
  readonly attempts: Attempts | null;
}

export interface Attempts {
  readonly count: number;
  readonly last: string;
}

function credentialsOf(value: unknown): Credentials {
  const { proved, second_factor, linked, attempts } = fields(value);
  const is = { isProved: proved === true, hasFactor: second_factor === true };
  const { count, last } = fields(attempts);
  const failed = typeof count === "number" ? { count, last: textOf(last) } : null;
  return { ...accountOf(value), ...is, isLinked: linked === true, attempts: failed };
}

export async function ownCredentials(): Promise<Credentials> {
  return credentialsOf(await ask("/api/v1/me"));
}

// --- the address ---

/** Has a link sent to one's own address. */
export async function mailProof(): Promise<void> {
  await send("POST", "/me/address/mail");
}

export async function proveAddress(secret: string): Promise<void> {
  await send("POST", "/me/address/prove", { secret });
}

// --- a new password ---

export async function mailReset(email: string): Promise<void> {
  await send("POST", "/password/mail", { email });
}

/** Throws ApiError where the link was used, or is too old. */
export async function lookAtReset(secret: string): Promise<void> {
  await send("POST", "/password/look", { secret });
}

export async function resetPassword(secret: string, password: string): Promise<void> {
  await send("POST", "/password/reset", { secret, password });
}

// --- the second factor ---

export interface NewKey {
  readonly secret: string;
  /** The QR code: its width, and a path of SVG in that many units. */
  readonly size: number;
  readonly path: string;
}

export async function beginFactor(): Promise<NewKey> {
  const { secret, size, path } = await send("POST", "/me/totp");
  return { secret: textOf(secret), size: Number(size), path: textOf(path) };
}

/** Codes for who loses the device, told once. */
export async function addFactor(
  secret: string,
  code: string,
  current: string,
): Promise<readonly string[]> {
  const known = current === "" ? {} : { current };
  const answer = await send("PUT", "/me/totp", { secret, code, ...known });
  return listOf(answer, "recovery").map(textOf);
}

export async function removeFactor(code: string): Promise<void> {
  await send("POST", "/me/totp/remove", { code });
}

// --- accounts of others ---

export async function accounts(): Promise<Credentials[]> {
  return listOf(await ask("/api/v1/users"), "users").map(credentialsOf);
}

/** Says that the address is the person's; `isHandedOver`: who has used the account is out. */
export async function confirmAddress(id: string, isHandedOver: boolean): Promise<void> {
  const body = isHandedOver ? { hand_over: true } : {};
  await send("POST", `/users/${encodeURIComponent(id)}/confirm`, body);
}

export async function resetFactor(id: string): Promise<void> {
  await send("DELETE", `/users/${encodeURIComponent(id)}/factors`);
}
