/**
 * A place's chat on its page: what was said, what of one's own waits or was refused, what is new.
 *
 * Rules.
 *   H1  A remark that has no answer is shown as waiting, and is sent once, by its numbered call;
 *       behind a reload, too.
 *   H2  What is refused stays until the person sends it again or drops it: no words are lost.
 *   H3  A name is the one that the account has now; a guest's is the one of then.
 */

import type { StoredObject } from "../../client/object";
import type { Session } from "../../client/session";
import { REMARK_MAX, type Remark, TalkObject } from "../../place/talk";
import { markRead, readUpTo } from "./read-marks";

/** What accounts are called now, by author; null: the account was erased. */
export type Names = ReadonlyMap<string, string | null>;

export interface TalkParts {
  readonly session: Session;
  readonly place: string;
  /** Of a page before. */
  readonly left: StoredObject | null;
  /** In whose name one says things here, and what tells oneself from others of the same. */
  readonly author: string;
  readonly by: string;
  /** What one is called now. */
  readonly name: () => string;
  readonly after: (delay_ms: number, act: () => void) => void;
  readonly names?: (() => Promise<Names>) | undefined;
  /** Takes away what somebody else has said, for who owns the place. */
  readonly remove?: ((id: string) => Promise<void>) | undefined;
  readonly changed: () => void;
  /** What waits is another thing now: it is to be kept. */
  readonly waits: () => void;
  /** Somebody else has said something. */
  readonly heard: (by: string | null) => void;
}

export interface Line {
  readonly key: string;
  /** null: it has not been said yet. */
  readonly id: string | null;
  readonly text: string;
  /** null: a deleted account; "": somebody without a name. */
  readonly by: string | null;
  readonly isOwn: boolean;
  readonly time_ms: number | null;
  readonly state: "said" | "waiting" | "refused";
  /** Why it was refused. */
  readonly code: string;
}

const NAMES_AGAIN_MS = 5_000;

export class Talk {
  /** It cannot be had: a node of a former version, or what one may not read. */
  isMissing = false;
  isLoaded = false;
  private object: TalkObject | null = null;
  private names: Names = new Map();
  private isAsking = false;
  private read = 0;
  private last = 0;
  private readonly refused = new Map<number, readonly [text: string, code: string]>();

  constructor(private readonly parts: TalkParts) {
    this.read = readUpTo(parts.place);
    if (parts.left !== null) this.begin();
  }

  /** Asks for it, once. */
  begin(): void {
    if (this.object !== null) return;
    const { session, place, left } = this.parts;
    try {
      this.object = session.attach(TalkObject, `place/${place}/talk`, TalkObject.type, (one) => {
        if (left !== null) one.resume(left);
        one.onAnswered = (n, code, text) => this.answered(n, code, text);
      });
    } catch {
      return; // the session has stopped, and says why
    }
    void this.listen(this.object);
  }

  private async listen(object: TalkObject): Promise<void> {
    try {
      const changes = object.changes();
      await object.ready;
      this.isLoaded = true;
      this.last = this.newest;
      this.look();
      for await (const _ of changes) this.look();
    } catch {
      this.isMissing = true;
      this.parts.changed();
    }
  }

  private look(): void {
    const unknown = [...this.remarks].some(({ author }) => this.isUnknown(author));
    if (unknown) this.ask();
    const fresh = [...this.remarks].filter((one) => numberOf(one) > this.last && !this.isOwn(one));
    this.last = Math.max(this.last, this.newest);
    const [latest] = fresh.slice(-1);
    if (latest !== undefined) this.parts.heard(this.nameOf(latest));
    this.parts.changed();
  }

  private answered(n: number, code: string, text: string | null): void {
    if (code !== "" && text !== null) this.refused.set(n, [text, code]);
    this.parts.waits();
    this.parts.changed();
  }

  // --- names ----------------------------------------------------------------------------------

  private isUnknown(author: string): boolean {
    return author.startsWith("user:") && author !== this.parts.author && !this.names.has(author);
  }

  private ask(): void {
    const { names, after } = this.parts;
    if (names === undefined || this.isAsking) return;
    this.isAsking = true;
    names().then(
      (found) => {
        this.isAsking = false;
        this.names = new Map([...this.names, ...found]);
        this.parts.changed();
      },
      () =>
        after(NAMES_AGAIN_MS, () => {
          this.isAsking = false;
          this.look();
        }),
    );
  }

  /** H3. */
  private nameOf({ author, name }: Remark): string | null {
    if (author === this.parts.author) return this.parts.name();
    const known = this.names.get(author);
    return known === undefined ? name : known;
  }

  // --- what is shown --------------------------------------------------------------------------

  private get remarks(): Iterable<Remark> {
    return this.object?.remarks.values() ?? [];
  }

  private get newest(): number {
    return Math.max(0, ...[...this.remarks].map(numberOf));
  }

  private isOwn({ author }: Remark): boolean {
    return author === this.parts.author;
  }

  get lines(): readonly Line[] {
    const said = [...this.remarks].map((one): Line => {
      const { id, text, time_ms } = one;
      const about = { by: this.nameOf(one), isOwn: this.isOwn(one), state: "said" } as const;
      return { key: id, id, text, time_ms, code: "", ...about };
    });
    const own = { id: null, by: this.parts.name(), isOwn: true, time_ms: null } as const;
    const refused = [...this.refused].map(([n, [text, code]]): Line => {
      return { ...own, key: `refused ${n}`, text, state: "refused", code };
    });
    const waiting = [...(this.object?.unsaid ?? [])].map(([n, text]): Line => {
      return { ...own, key: `waiting ${n}`, text, state: "waiting", code: "" };
    });
    return [...said, ...refused, ...waiting];
  }

  get unread(): number {
    return [...this.remarks].filter((one) => numberOf(one) > this.read && !this.isOwn(one)).length;
  }

  /** The number of the last one that was read: what is behind it is new. */
  get readUpTo(): number {
    return this.read;
  }

  /** All that is here was read. */
  readAll(): void {
    const { newest } = this;
    if (newest <= this.read) return;
    this.read = newest;
    markRead(this.parts.place, newest);
    this.parts.changed();
  }

  get waiting(): number {
    return this.object?.unsaid.size ?? 0;
  }

  get unanswered(): number {
    return this.object?.unanswered ?? 0;
  }

  get unsaved(): number {
    return this.object?.unsaved ?? 0;
  }

  /** What the next page needs, if anything. */
  get stored(): StoredObject | null {
    return this.object !== null && this.unanswered > 0 ? this.object.stored : null;
  }

  // --- what is said ---------------------------------------------------------------------------

  /** Whether there was something to say. */
  say(text: string): boolean {
    const clean = cleanRemark(text);
    if (clean === "") return false;
    this.begin();
    this.object?.say(clean, this.parts.name(), this.parts.by).catch(() => undefined); // H2
    this.parts.waits();
    this.parts.changed();
    return true;
  }

  takeBack({ id, isOwn }: Line): Promise<unknown> {
    if (id === null) return Promise.resolve();
    if (!isOwn) return this.parts.remove?.(id) ?? Promise.resolve();
    const taken = this.object?.takeBack(id, this.parts.by) ?? Promise.resolve();
    this.parts.waits();
    return taken;
  }

  /** Sends what was refused once more, or drops it. */
  settle({ key }: Line, isAgain: boolean): void {
    const n = Number(key.replace("refused ", ""));
    const [text] = this.refused.get(n) ?? [];
    this.refused.delete(n);
    if (isAgain && text !== undefined) this.say(text);
    this.parts.changed();
  }
}

function numberOf({ id }: Remark): number {
  const number = Number.parseInt(id, 16);
  return Number.isSafeInteger(number) ? number : 0;
}

/** As nodes take it: no letters that are none, no blank ends, no more than may be. */
export function cleanRemark(text: string): string {
  const clean = text
    .replaceAll("\r\n", "\n")
    .replace(/[\0\r]|\p{Cs}/gu, "")
    .trim();
  return [...clean].slice(0, REMARK_MAX).join("");
}
