/** Who may what: people, links, workspaces, accounts, as the API has them. */

import { ask, type Fields, fields, listOf, send, textOf } from "../api";
import { accountWords } from "../words/account";
import { type Account, accountOf } from "./session";
import { roleName } from "./words";

export type Role = "viewer" | "commenter" | "editor" | "owner";
export const ROLES: readonly Role[] = ["viewer", "commenter", "editor", "owner"];

export interface Member extends Account {
  readonly role: string;
  /** For this document alone; "none" when it comes from the workspace. */
  readonly here: string;
  /** Whether the address is known to be the person's; true where one is not told. */
  readonly isProved: boolean;
  /** The role that they get when it is; "" where nothing waits. */
  readonly pending: string;
}

export interface ShareLink {
  readonly id: string;
  readonly role: string;
  readonly hasPassword: boolean;
  readonly isRevoked: boolean;
  readonly expires: string;
}

export interface Workspace {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}

export interface Invitation {
  readonly id: string;
  readonly role: string;
  readonly email: string;
  readonly expires: string;
}

export interface SignInPlace {
  readonly id: string;
  readonly agent: string;
  readonly seen: string;
  readonly isCurrent: boolean;
}

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires: string;
}

export interface Note {
  readonly number: number;
  readonly at: string;
  readonly by: string;
  readonly what: string;
  readonly about: string;
}

const part = encodeURIComponent;
const doc = (id: string): string => `/documents/${part(id)}`;
const space = (id: string): string => `/workspaces/${part(id)}`;

function memberOf(value: unknown): Member {
  const { role, here, proved, pending } = fields(value);
  const is = { isProved: proved !== false, pending: textOf(pending) };
  return { ...accountOf(value), ...is, role: textOf(role), here: textOf(here) || "none" };
}

/** An absolute address of a path with a secret, at the node of this page. */
function addressOf(answer: Fields): string {
  return new URL(textOf(answer.path), location.origin).href;
}

// --- a document ---

export interface Members {
  readonly workspace: string;
  /** What one is oneself. */
  readonly role: string;
  readonly members: readonly Member[];
}

export async function documentMembers(id: string): Promise<Members> {
  const answer = await ask(`/api/v1${doc(id)}/members`);
  const { workspace, role } = answer;
  const members = listOf(answer, "members").map(memberOf);
  return { workspace: textOf(workspace), role: textOf(role), members };
}

/** Whether the role is in effect, and does not wait until the address is proved. */
export async function shareWith(id: string, email: string, role: Role): Promise<boolean> {
  return memberOf(await send("POST", `${doc(id)}/members`, { email, role })).pending === "";
}

/** Another role for the document; null: none beside that in the workspace. */
export async function setDocumentRole(id: string, user: string, role: Role | null): Promise<void> {
  const path = `${doc(id)}/members/${part(user)}`;
  await (role === null ? send("DELETE", path) : send("PUT", path, { role }));
}

export async function documentLinks(id: string): Promise<ShareLink[]> {
  return listOf(await ask(`/api/v1${doc(id)}/links`), "links").map((value) => {
    const { id, role, password, revoked, expires } = fields(value);
    const is = { hasPassword: password === true, isRevoked: revoked === true };
    return { id: textOf(id), role: textOf(role), expires: textOf(expires), ...is };
  });
}

/** Makes a link; its address, which is told once. */
export async function makeLink(
  id: string,
  role: Role,
  days: number,
  password: string,
): Promise<string> {
  const secret = password === "" ? {} : { password };
  const body = { role, valid_days: days, ...secret };
  return addressOf(await send("POST", `${doc(id)}/links`, body, true));
}

export async function revokeLink(id: string, link: string): Promise<void> {
  await send("DELETE", `${doc(id)}/links/${part(link)}`);
}

// --- workspaces ---

export async function workspaces(): Promise<Workspace[]> {
  return listOf(await ask("/api/v1/workspaces"), "workspaces").map((value) => {
    const { id, name, role } = fields(value);
    return { id: textOf(id), name: textOf(name), role: textOf(role) };
  });
}

export async function workspaceMembers(id: string): Promise<Member[]> {
  return listOf(await ask(`/api/v1${space(id)}/members`), "members").map(memberOf);
}

/** Another role in the workspace; null: out of it. */
export async function setWorkspaceRole(id: string, user: string, role: Role | null): Promise<void> {
  const path = `${space(id)}/members/${part(user)}`;
  await (role === null ? send("DELETE", path) : send("PUT", path, { role }));
}

export async function invitations(id: string): Promise<Invitation[]> {
  return listOf(await ask(`/api/v1${space(id)}/invitations`), "invitations").map((value) => {
    const { id, role, email, expires } = fields(value);
    const is = { id: textOf(id), role: textOf(role) };
    return { ...is, email: textOf(email), expires: textOf(expires) };
  });
}

/** Invites somebody; the address to give them, which is told once. */
export async function invite(id: string, email: string, role: Role, days = 7): Promise<string> {
  const whom = email === "" ? {} : { email };
  const body = { role, valid_days: days, ...whom };
  return addressOf(await send("POST", `${space(id)}/invitations`, body, true));
}

export async function withdraw(id: string, invitation: string): Promise<void> {
  await send("DELETE", `${space(id)}/invitations/${part(invitation)}`);
}

// --- oneself ---

export async function rename(name: string): Promise<Account> {
  return accountOf(await send("PATCH", "/me", { name }));
}

export async function changePassword(current: string, password: string): Promise<void> {
  await send("PUT", "/me/password", { current, password });
}

export async function signIns(): Promise<SignInPlace[]> {
  return listOf(await ask("/api/v1/me/sessions"), "sessions").map((value) => {
    const { id, agent, seen, current } = fields(value);
    const is = { id: textOf(id), agent: textOf(agent), seen: textOf(seen) };
    return { ...is, isCurrent: current === true };
  });
}

export async function endSignIn(id: string): Promise<void> {
  await send("DELETE", `/me/sessions/${part(id)}`);
}

export async function tokens(): Promise<Token[]> {
  return listOf(await ask("/api/v1/tokens"), "tokens").map((value) => {
    const { id, name, scopes, expires } = fields(value);
    const list = Array.isArray(scopes) ? scopes.map(String) : [];
    return { id: textOf(id), name: textOf(name), scopes: list, expires: textOf(expires) };
  });
}

/** Makes a token; its secret, which is told once. */
export async function makeToken(
  name: string,
  scopes: readonly string[],
  days: number,
): Promise<string> {
  return textOf((await send("POST", "/tokens", { name, scopes, valid_days: days }, true)).secret);
}

export async function revokeToken(id: string): Promise<void> {
  await send("DELETE", `/tokens/${part(id)}`);
}

// --- accounts of others ---

export async function addAccount(name: string, email: string, password: string): Promise<void> {
  await send("POST", "/users", { name, email, password });
}

export async function switchAccount(id: string, disabled: boolean): Promise<void> {
  await send("PATCH", `/users/${part(id)}`, { disabled });
}

export async function signOutAccount(id: string): Promise<void> {
  await send("DELETE", `/users/${part(id)}/sessions`);
}

/** Deeds at things that have no name: their ids say nothing to people. */
const NAMELESS = /^(invitation|link|session|sessions|signed_out|token)(\.|$)/;
/** Deeds at things that have a name, as long as they are there and may be seen. */
const NAMED = /^(document|folder|owner|role|user|workspace)\./;

/** What an entry is about that stands for many, of whom each would have been one of its own. */
const OTHERS = "others";
/** Ends what an entry is about that stands for so many. */
const TIMES = /^times=(\d+)$/;

/** The audit log in words, with the names of what the person may see. */
export async function auditLog(): Promise<Note[]> {
  const [log, users, files] = await Promise.all([
    ask("/api/v1/audit"),
    ask("/api/v1/users"),
    ask("/api/v1/files"),
  ]);
  const known = listOf(users, "users").map(accountOf);
  const names = new Map(known.map(({ id, name }) => [id, name]));
  for (const kind of ["workspaces", "folders", "documents"]) {
    for (const one of listOf(files, kind)) {
      const { id, name, title } = fields(one);
      names.set(textOf(id), textOf(title ?? name));
    }
  }
  const notes = listOf(log, "entries").map((value) => {
    const { number, at_ms, by, what, about, origin } = fields(value);
    const at = new Date(Number(at_ms)).toJSON() ?? "";
    const who = named(textOf(by), names) || textOf(origin);
    const is = { number: Number(number), at, by: who };
    return { ...is, what: textOf(what), about: wordsAbout(textOf(what), textOf(about), names) };
  });
  return inRuns(notes);
}

/** So many deeds in a row, none long after the other, are shown as one: an import, for example. */
const RUN = 4;
const SAME_MS = 60_000;

/** The same deeds of one person as one row, that names the first of what they were about. */
export function inRuns(notes: readonly Note[]): Note[] {
  const runs: Note[][] = [];
  for (const note of notes) {
    const last = runs.at(-1)?.at(-1);
    const isSame = last?.what === note.what && last.by === note.by;
    const isSoon = isSame && Date.parse(note.at) - Date.parse(last.at) < SAME_MS;
    if (isSoon) runs.at(-1)?.push(note);
    else runs.push([note]);
  }
  return runs.flatMap((run) => {
    const [first] = run;
    if (first === undefined || run.length < RUN) return run;
    return [{ ...first, about: accountWords.andOthers(first.about, run.length - 1) }];
  });
}

/** What a deed was about: names, and words of what has none. */
export function wordsAbout(
  what: string,
  about: string,
  names: ReadonlyMap<string, string>,
): string {
  const words = about.split(" ").filter((word) => word !== "");
  const count = TIMES.exec(words.at(-1) ?? "")?.[1];
  const times = count === undefined ? [] : [accountWords.times(Number(count))];
  if (times.length > 0) words.pop();
  if (words.join(" ") === OTHERS) return [accountWords.others, ...times].join(", ");
  if (what === "request.refused" || what === "node.refused")
    return [words.join(" "), ...times].join(", ");
  const said = words.flatMap((word) => {
    const name = named(word, names);
    const isKnown = name !== word.replace(/^user:/, "");
    if (isKnown || !(NAMELESS.test(what) || NAMED.test(what))) return [name];
    return NAMED.test(what) ? [accountWords.notHere] : [];
  });
  return [...said, ...times].join(", ");
}

/** A principal or an id of the audit log, in words. */
function named(word: string, names: ReadonlyMap<string, string>): string {
  if (word === "admin") return accountWords.operator;
  if (word.startsWith("link:")) return accountWords.visitor;
  const id = word.replace(/^user:/, "");
  const role = ROLES.find((one) => one === word);
  return names.get(id) ?? (role === undefined ? id : roleName(role));
}
