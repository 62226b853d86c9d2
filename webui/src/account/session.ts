/** Who this browser is to the node that served the page, and what one may therefore ask of it. */

import { ask, type Fields, fields, secure, send, textOf } from "../api";

export interface Account {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly disabled: boolean;
  /** Of one's own account: false where one signs in at the identity provider alone. */
  readonly hasPassword: boolean;
}

export interface Identity {
  /** Whether people sign in here at all. */
  readonly hasAccounts: boolean;
  /** `user:…`, `link:…` for who came by a share link, `guest` without accounts; null: nobody. */
  readonly principal: string | null;
  readonly user: Account | null;
  /** Who came by a share link has no favourites, and nowhere to put a document of their own. */
  readonly isVisitor: boolean;
  /** Whether one manages the accounts of others. */
  readonly manages: boolean;
  readonly hasOwner: boolean;
  /** Whether there is an identity provider to sign in at. */
  readonly hasProvider: boolean;
  /** Whether the nodes send mail. */
  readonly hasMail: boolean;
  /** How much Markdown the nodes import at once, in KiB. */
  readonly importKib: number;
}

/** What a node imports that was told nothing else, and says nothing of it. */
const IMPORT_KIB = 4096;
export const LAST = "groupcore.identity";

export function accountOf(value: unknown): Account {
  const { id, name, email, disabled, has_password } = fields(value);
  const is = { disabled: disabled === true, hasPassword: has_password !== false };
  return { id: textOf(id), name: textOf(name), email: textOf(email), ...is };
}

/** Takes an answer that says who one is now; requests from here on are made as this one. */
export function identityOf(answer: Fields): Identity {
  const { csrf } = answer;
  secure(typeof csrf === "string" ? csrf : null);
  remember({ ...answer, csrf: null, at: Date.now() });
  return identityIn(answer);
}

/** Keeps who is here for when no node answers: `whoWas`, in ../offline/last.ts. */
function remember(answer: Fields): void {
  try {
    localStorage[LAST] = JSON.stringify(answer);
  } catch {
    // A browser that keeps nothing has no edits to show, either.
  }
}

/** Keeps nothing of who was here. */
export function forget(): void {
  remember({});
}

export function identityIn({ principal, user, ...answer }: Fields): Identity {
  return {
    hasAccounts: answer.accounts === true,
    principal: typeof principal === "string" ? principal : null,
    user: typeof user === "object" && user !== null ? accountOf(user) : null,
    isVisitor: typeof principal === "string" && principal.startsWith("link:"),
    manages: answer.manages === true,
    hasOwner: answer.has_owner === true,
    hasProvider: answer.oidc === true,
    hasMail: answer.mail === true,
    importKib: Number(answer.import_kib ?? IMPORT_KIB),
  };
}

export async function lookWhoIsHere(): Promise<Identity> {
  return identityOf(await ask("/api/v1/session"));
}

export async function signOut(isEverywhere = false): Promise<void> {
  // Also where no node hears it: who leaves a computer leaves nothing to be seen there.
  forget();
  await send("DELETE", isEverywhere ? "/me/sessions" : "/session");
}
