import type { Item, ObjectMessage, Out, Verdict } from "../../src/client/messages";
import type { Host } from "../../src/client/object";

/** A session of one object, for tests: keeps what is sent. */
export class FakeHost implements Host {
  sent: Out[] = [];
  reopened: string[] = [];
  forgotten: string[] = [];
  hasRoom = true;
  saves = false;

  isSelf(who: string): boolean {
    return who.startsWith("me");
  }

  send(message: Out): void {
    this.sent.push(message);
  }

  proceed(): void {
    return;
  }

  reopen(name: string): void {
    this.reopened.push(name);
  }

  forget(name: string): void {
    this.forgotten.push(name);
  }

  /** The calls sent since the last look: number, answered, first operation. */
  calls(): unknown[] {
    const found = this.sent.flatMap((one) =>
      one.t === "call" ? [[one.n, one.answered, ...one.calls]] : [],
    );
    this.sent = [];
    return found;
  }
}

export function snapshot(state: unknown, version = 1, done: Verdict[] = []): ObjectMessage {
  return { t: "snapshot", name: "it", birth: "b", version, state, done, last: 0 };
}

export function changes(version: number, items: Item[], state?: unknown): ObjectMessage {
  const shown = state === undefined ? {} : { state };
  return { t: "changes", name: "it", version, items, ...shown };
}

export function edited(
  version: number,
  who: string,
  edits: number,
  delta: unknown[],
): ObjectMessage {
  return changes(version, [[version, who, "edit", [[edits, delta]]]]);
}

export function result(n: number, ...results: unknown[]): ObjectMessage {
  return { t: "result", name: "it", n, results };
}
