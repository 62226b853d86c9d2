/**
 * Who this browser was to the nodes last, for when none answers: whose unsent edits may be shown.
 *
 * It is forgotten as soon as a node says that nobody is signed in, or one signs out, and no later
 * than the nodes forget a sign-in that is not used.
 */

import { type Identity, identityIn, LAST } from "../account/session";
import { ApiError, fields } from "../api";

/** As long as a sign-in lasts that is not used: `SIGN_IN_S` in server/accounts/sign_ins.py. */
const LONGEST_MS = 14 * 24 * 3_600_000;

/**
 * Who was here last, as one who manages nothing: that needs nodes. Null: nobody, too long ago, or
 * it is not for want of a node that it is asked.
 */
export function whoWas(why?: unknown, now_ms = Date.now()): Identity | null {
  const isAlone = !(why instanceof ApiError) || why.code === "unreachable" || why.code === "";
  try {
    const { at, ...answer } = fields(JSON.parse(localStorage[LAST] ?? "null"));
    const known = identityIn({ ...answer, manages: false });
    const isNew = now_ms - Number(at) < LONGEST_MS;
    return isAlone && isNew && known.principal !== null ? known : null;
  } catch {
    return null;
  }
}
