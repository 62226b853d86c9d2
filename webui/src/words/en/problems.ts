/** What the codes of the HTTP API and of the socket mean to people. */

import { area } from "../language";

export const problemWords = area("problems", {
  bad_credentials: "Mail address or password is wrong.",
  bad_request: "The server did not take this. Check what you have written.",
  busy: "The server has too much to do. Try again in a moment.",
  cycle: "A folder cannot be moved into itself.",
  expired: "This link was used, withdrawn, or is too old.",
  forbidden: "You may not do this. Ask an owner.",
  forbidden_origin: "This page may not write here. Open it at the server's own address.",
  forged: "You have signed in or out in another tab. Reload this page.",
  insecure: "Signing in needs a secure connection (https). Tell who runs the server.",
  internal: "The server has failed on this. Try again, and tell who runs it if it goes on.",
  last_owner: "A workspace needs an owner. Make somebody else one first.",
  no_such_document: "There is no document at this address. Check it, or look in the list.",
  no_such_link: "This link is wrong, revoked or too old.",
  not_empty: "There are documents or folders in this workspace.",
  not_found: "This is not there any more.",
  not_primary: "The servers take no changes right now. Try again in a moment.",
  not_ready: "The server is only just starting. Try again in a moment.",
  provider: "Signing in at your organisation did not work. Try again.",
  taken: "There is one of this name or address already.",
  too_deep: "Folders are nested eight deep at most.",
  too_large: "This is too large.",
  too_many: "There are too many of these already. Remove some first.",
  too_many_documents: "The server holds no more documents.",
  no_such_picture: "This picture is not there any more.",
  not_a_picture: "This is no picture that a document can show. Take a PNG, JPEG, GIF or WebP file.",
  bad_picture: "This picture is damaged, or too large to be shown.",
  no_room: "The servers have no room for this picture.",
  trashed: "This is in the trash. Restore it first.",
  unauthenticated: "You are not signed in any more.",
  too_fast: "Too many requests at once. Wait a moment, then try again.",
  wait: "Too many attempts. Wait a minute, then try again.",
  weak_password:
    "This password is too short, or easily guessed. Take another of at least 10 characters.",
  // why a page goes on no more
  outdated: "This page is older than the server. Reload the page.",
  refused: "The server refused what this page sent. Reload the page.",
  replaced: "This page's session is used elsewhere. Reload the page.",
  signed_out: "You are not signed in any more.",
  too_much: "This page sent more than the server takes. Reload the page.",
  // of no known code
  other: "This does not go on. Reload the page.",
  said: (text: string) => `The server says: ${text}`,
});
