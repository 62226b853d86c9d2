/** Coming in: by a password, at the identity provider, by an invitation or a link. */

import { ApiError, send, textOf } from "../api";
import { commonWords } from "../words/common";
import { type Identity, identityOf, lookWhoIsHere } from "./session";

/** Signs in by password; null where the account asks for a code, too. */
export async function signIn(email: string, password: string): Promise<Identity | null> {
  const answer = await send("POST", "/session", { email, password });
  return answer.second === undefined ? identityOf(answer) : null;
}

/** The code of an authenticator, or one for recovery, behind the password or the provider. */
export async function showCode(code: string): Promise<Identity> {
  return identityOf(await send("POST", "/session/second", { code }));
}

/** The address of the identity provider to go to: to sign in, to join, or to be linked. */
export async function providerAddress(
  body: { invitation?: string; link?: true } = {},
): Promise<string> {
  const url = textOf((await send("POST", "/session/oidc", body)).url);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new ApiError("bad_answer", commonWords.unreadable);
  }
  return url;
}

export interface NewAccount {
  readonly name: string;
  readonly email: string;
  readonly password: string;
}

/** Throws ApiError where the one-time link was used, or is too old. */
export async function lookAtOwnerLink(secret: string): Promise<void> {
  await send("POST", "/users/first/look", { secret });
}

export async function becomeOwner(
  secret: string,
  account: NewAccount,
  workspace: string,
): Promise<Identity> {
  const place = workspace === "" ? {} : { workspace };
  return identityOf(await send("POST", "/users/first", { secret, ...account, ...place }));
}

export interface Offer {
  readonly workspace: string;
  readonly role: string;
  readonly email: string;
}

export async function lookAtInvitation(secret: string): Promise<Offer> {
  const { workspace, role, email } = await send("POST", "/invitations/look", { secret });
  return { workspace: textOf(workspace), role: textOf(role), email: textOf(email) };
}

/** Joins with a new account, or with the one that is signed in. */
export async function join(secret: string, account: NewAccount | null): Promise<Identity> {
  const answer = await send("POST", "/invitations/accept", { secret, ...account });
  return account === null ? lookWhoIsHere() : identityOf(answer);
}

/** Comes by a share link; the document that it leads to. */
export async function enterLink(secret: string, password: string): Promise<string> {
  const body = password === "" ? { secret } : { secret, password };
  return textOf((await send("POST", "/links/enter", body)).document);
}
