import { decode, encode } from "@msgpack/msgpack";
import { expect, test, vi } from "vitest";
import {
  Counter,
  connect,
  Lock,
  Presence,
  type Session,
  type State,
  Topic,
} from "../../src/client";
import type { Out } from "../../src/client/messages";
import type { Socket } from "../../src/shared/link";
import { FakeHost, result, snapshot } from "./host";

class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  sent: Out[] = [];

  constructor(readonly url: string) {}

  send(data: Uint8Array<ArrayBuffer>): void {
    this.sent.push(...(decode(data) as Out[]));
  }

  close(): void {
    return;
  }

  hear(...messages: unknown[]): void {
    this.onmessage?.({ data: encode(messages) });
  }

  welcome(who: string): void {
    this.onopen?.();
    const limits = { frame_bytes: 1, objects: 1, calls: 64 };
    this.hear({ t: "welcome", who, node: "a", principal: "", heartbeat_s: 15, limits });
  }
}

/** How often a session looks whether its node answers. */
const LOOK_MS = 2_000;

/** A session over sockets that the test plays, with timers that run when they are told to. */
function fakeSession(): {
  session: Session;
  sockets: FakeSocket[];
  states: State[];
  pass: () => void;
  look: () => void;
  run: (delay_ms: number) => void;
} {
  const sockets: FakeSocket[] = [];
  const states: State[] = [];
  let timers: [number, () => void][] = [];
  const session = connect(["ws://one/", "ws://two/"], {
    openSocket: (url) => {
      const socket = new FakeSocket(url);
      sockets.push(socket);
      return socket;
    },
    after: (delay_ms, callback) => {
      const timer: [number, () => void] = [delay_ms, callback];
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    random: () => 0,
    onState: (state) => states.push(state),
  });
  const pass = (): void => {
    const due = timers.filter(([delay_ms]) => delay_ms <= 1_000);
    timers = timers.filter(([delay_ms]) => delay_ms > 1_000);
    for (const [, callback] of due) callback();
  };
  const run = (exact_ms: number): void => {
    const due = timers.filter(([delay_ms]) => delay_ms === exact_ms);
    timers = timers.filter(([delay_ms]) => delay_ms !== exact_ms);
    for (const [, callback] of due) callback();
  };
  const look = (): void => run(LOOK_MS);
  return { session, sockets, states, pass, look, run };
}

test("a session goes on at the next node with what it has", async () => {
  const { session, sockets, states, pass } = fakeSession();
  const opening = session.open(Counter, "it");
  sockets[0]?.welcome("me#1");
  pass();
  expect(sockets[0]?.sent.at(-1)).toMatchObject({ t: "open", name: "it", type: "Counter" });
  sockets[0]?.hear(snapshot({ value: 4 }, 7));
  const counter = await opening;
  expect(await session.open(Counter, "it")).toBe(counter);
  await expect(session.open(Lock, "it")).rejects.toMatchObject({ code: "declaration" });
  const added = counter.add(1);
  sockets[0]?.onclose?.({ code: 1006 });
  pass();
  expect(sockets[1]?.url).toBe("ws://two/");
  sockets[1]?.welcome("me#2");
  pass();
  expect(sockets[1]?.sent.at(-1)).toMatchObject({ t: "open", birth: "b", version: 7 });
  sockets[1]?.hear({ t: "opened", name: "it", version: 7, done: [] });
  pass();
  expect(sockets[1]?.sent.at(-1)).toMatchObject({ t: "call", n: 1, answered: 0 });
  sockets[1]?.hear(result(1, 5));
  expect([await added, session.who, session.isSelf("me#1"), session.unanswered]).toEqual([
    5,
    "me#2",
    true,
    0,
  ]);
  expect(states).toEqual(["connected", "connecting", "connected"]);
});

/** An open counter at a node, and the numbers of the calls that have gone out. */
async function slowed(): Promise<{
  counter: Counter;
  socket: FakeSocket;
  calls: () => number[];
  pass: () => void;
  run: (delay_ms: number) => void;
}> {
  const { session, sockets, pass, run } = fakeSession();
  const opening = session.open(Counter, "it");
  const socket = sockets[0] as FakeSocket;
  socket.welcome("me#1");
  pass();
  socket.hear(snapshot({ value: 0 }));
  const counter = await opening;
  const calls = (): number[] =>
    socket.sent.flatMap((one) => (one.t === "call" ? [one.n as number] : []));
  return { counter, socket, calls, pass, run };
}

test("a node that does not keep up is called in rounds, as far apart as it asks", async () => {
  const { counter, socket, calls, pass, run } = await slowed();
  const add = (): void => void counter.add(1).catch(() => undefined);
  socket.hear({ t: "slow", pause_ms: 1_500 });
  add();
  add();
  pass();
  expect(calls(), "what is called in one turn goes out together").toEqual([1, 2]);
  add();
  add();
  pass();
  expect(calls(), "what comes in the pause is kept").toEqual([1, 2]);
  expect(counter.unanswered).toBe(4);
  run(1_500);
  pass();
  expect(calls()).toEqual([1, 2, 3, 4]);
  add();
  pass();
  expect(calls().length).toBe(4);
  socket.hear({ t: "slow", pause_ms: 0 });
  pass();
  expect(calls(), "it keeps up again").toEqual([1, 2, 3, 4, 5]);
});

test("a pause is bounded, and over when the node does not ask for it again", async () => {
  const { counter, socket, calls, pass, run } = await slowed();
  const add = (): void => void counter.add(1).catch(() => undefined);
  socket.hear({ t: "slow", pause_ms: 3_600_000 });
  add();
  pass();
  add();
  pass();
  expect(calls()).toEqual([1]);
  run(2_000);
  pass();
  expect(calls(), "two seconds are the most").toEqual([1, 2]);
  add();
  pass();
  run(5_000);
  pass();
  expect(calls(), "nobody has asked for five seconds").toEqual([1, 2, 3]);
});

test("a node that is behind is left for the next; a refusal ends the object", async () => {
  const { session, sockets, pass } = fakeSession();
  const opening = session.open(Counter, "it");
  sockets[0]?.welcome("me#1");
  pass();
  sockets[0]?.hear({ t: "error", name: "it", code: "behind", message: "", temporary: true });
  sockets[1]?.welcome("me#2");
  pass();
  const refusal = { t: "error", name: "it", code: "forbidden", message: "no", temporary: false };
  sockets[1]?.hear(refusal);
  await expect(opening).rejects.toMatchObject({ code: "forbidden" });
});

const PATIENCE_MS = 8_000;

/** A session with one call that waits, of which the test says when it looks at its node. */
function watched() {
  const clock = vi.spyOn(Date, "now").mockReturnValue(1_000_000);
  const { session, sockets, pass, look } = fakeSession();
  const later = (by_ms: number): void => {
    clock.mockReturnValue(Date.now() + by_ms);
    look();
  };
  const it = session.attach(Counter, "it");
  const connected = (at: number): void => {
    sockets[at]?.welcome(`me#${at}`);
    sockets[at]?.hear(snapshot({ value: 0 }));
  };
  return { session, sockets, pass, later, it, connected };
}

test("a node that does not answer a call is left; one that answers, though slowly, is not", () => {
  const { sockets, later, it, connected } = watched();
  connected(0);
  for (let call = 0; call < 3; call += 1) void it.add(1).catch(() => undefined);
  for (let n = 1; n < 3; n += 1) {
    for (let looks = 0; looks < 3; looks += 1) later(PATIENCE_MS / 4);
    sockets[0]?.hear(result(n, 1));
  }
  for (let looks = 0; looks < 4; looks += 1) later(PATIENCE_MS / 4);
  expect(sockets.length).toBe(1);
  later(PATIENCE_MS / 4);
  expect(sockets.length).toBe(2);
  vi.restoreAllMocks();
});

test("what was written long ago without a connection is given its time behind the reconnect", () => {
  const { sockets, pass, later, it, connected } = watched();
  connected(0);
  sockets[0]?.onclose?.({ code: 1006 });
  void it.add(1).catch(() => undefined);
  for (let looks = 0; looks < 20; looks += 1) later(PATIENCE_MS / 4);
  pass();
  connected(1);
  for (let looks = 0; looks < 4; looks += 1) later(PATIENCE_MS / 4);
  expect(sockets.length).toBe(2);
  vi.restoreAllMocks();
});

test("a page that was held up itself does not blame the node for it", () => {
  const { sockets, later, it, connected } = watched();
  connected(0);
  void it.add(1).catch(() => undefined);
  later(3 * PATIENCE_MS);
  expect(sockets.length).toBe(1);
  later(PATIENCE_MS / 4);
  expect(sockets.length).toBe(2);
  vi.restoreAllMocks();
});

test("a node that is learnt of later is tried too, and the connection goes on until then", () => {
  const { session, sockets, pass } = fakeSession();
  sockets[0]?.welcome("me@a");
  session.urls = ["ws://one/", "ws://three/"];
  expect(sockets.length).toBe(1);
  sockets[0]?.onclose?.({ code: 1006 });
  pass();
  expect(sockets.map(({ url }) => url)).toEqual(["ws://one/", "ws://three/"]);
});

test("a session begun anew is disconnected at once, whatever becomes of the old socket", () => {
  const { session, sockets, states } = fakeSession();
  sockets[0]?.welcome("a#1");
  session.reconnect();
  expect(states.at(-1)).toBe("connecting");
  expect(sockets.map(({ url }) => url)).toEqual(["ws://one/", "ws://one/"]);
  sockets[1]?.welcome("a#2");
  expect(states.at(-1)).toBe("connected");
});

test("a close code that says stop ends the session, and everything in it", async () => {
  const { session, sockets, states } = fakeSession();
  const opening = session.open(Counter, "it");
  sockets[0]?.onclose?.({ code: 4426 });
  await expect(opening).rejects.toMatchObject({ code: "outdated" });
  await expect(session.open(Counter, "it")).rejects.toMatchObject({ code: "outdated" });
  expect(states).toEqual(["stopped"]);
});

test("a presence shows the others, and is said again behind a reconnect", async () => {
  const host = new FakeHost();
  const room = new Presence<string>(host, "it", "Presence");
  room.set("Ann");
  expect(host.sent).toEqual([]);
  room.hear({ t: "opened", name: "it", version: 0, done: [] });
  expect(host.sent).toEqual([{ t: "present", name: "it", value: "Ann" }]);
  room.hear({ t: "people", name: "it", others: [["you", "Bob"]] });
  room.hear({ t: "presence", name: "it", who: "me#1", value: "Ann" });
  room.hear({ t: "presence", name: "it", who: "they", value: "Carol" });
  expect([...room.others]).toEqual([
    ["you", "Bob"],
    ["they", "Carol"],
  ]);
  const stream = room.changes();
  room.hear({ t: "people", name: "it", others: [["they", "Carol"]] });
  expect((await stream.next()).value).toEqual({ who: "you", value: null });
});

test("a topic tells its events once, and nobody knows what a broken connection did", async () => {
  const host = new FakeHost();
  const bell = new Topic<number>(host, "it", "Topic");
  await expect(bell.publish(0)).rejects.toMatchObject({ code: "not_open" });
  bell.hear({ t: "opened", name: "it", version: 0, done: [] });
  const stream = bell.events();
  const published = [bell.publish(1), bell.publish(2)];
  const event = { t: "event", name: "it", version: 4, who: "me", value: 1 } as const;
  bell.hear(event);
  bell.hear(event);
  bell.hear(result(1));
  await published[0];
  bell.disconnected();
  await expect(published[1]).rejects.toMatchObject({ code: "outcome_unknown" });
  expect((await stream.next()).value).toEqual({ value: 1, who: "me", version: 4 });
  bell.close();
  expect((await stream.next()).done).toBe(true);
});

test("an object that is opened again goes on with the numbers of its calls", async () => {
  const { session, sockets, pass } = fakeSession();
  const opening = session.open(Counter, "it");
  sockets[0]?.welcome("me#1");
  sockets[0]?.hear(snapshot({ value: 0 }));
  const first = await opening;
  const answer = first.add(1);
  sockets[0]?.hear(result(1, 1));
  await answer;
  first.close();
  const again = session.open(Counter, "it");
  sockets[0]?.hear(snapshot({ value: 1 }));
  (await again).add(1).catch(() => undefined);
  pass();
  const calls = sockets[0]?.sent.flatMap((one) => (one.t === "call" ? [one.n] : []));
  expect(calls).toEqual([1, 2]);
  session.close();
});

test("who is signed out keeps what was not sent, and what is opened then says so", async () => {
  const { session, sockets, states } = fakeSession();
  sockets[0]?.welcome("one");
  const counter = session.attach(Counter, "votes");
  sockets[0]?.hear({ ...snapshot({ value: 0 }), name: "votes" });
  void counter.add(1).catch(() => undefined);
  const waiting = session.open(Lock, "door");
  sockets[0]?.onclose?.({ code: 4403 });
  expect([session.stopped?.code, states.at(-1)]).toEqual(["signed_out", "stopped"]);
  expect([session.unanswered, sockets.length]).toEqual([1, 1]);
  await expect(waiting).rejects.toMatchObject({ code: "signed_out" });
  await expect(session.open(Lock, "gate")).rejects.toMatchObject({ code: "signed_out" });
});

test("what is behind the objects is asked for by number, and comes or fails", async () => {
  const { session, sockets, pass } = fakeSession();
  await expect(session.inspect()).rejects.toMatchObject({ code: "not_open" });
  const [socket] = sockets as [FakeSocket];
  socket.welcome("a");
  const seen: string[] = [];
  session.tap = (way, { t }) => seen.push(`${way} ${t}`);
  const [first, second, third] = [session.inspect(), session.inspect(), session.inspect()];
  pass();
  expect(socket.sent.filter(({ t }) => t === "inspect").length).toBe(3);
  socket.hear({ t: "error", code: "busy", message: "later", temporary: true, n: 2 });
  socket.hear({ t: "inspected", n: 1, at: { node: "a" }, session: {}, objects: [] });
  await expect(second).rejects.toMatchObject({ code: "busy" });
  expect((await first).at.node).toBe("a");
  socket.onclose?.({ code: 1006 });
  await expect(third).rejects.toMatchObject({ code: "outcome_unknown" });
  expect(seen.slice(3)).toEqual(["in error", "in inspected"]);
});

test("a session knows what its node says that it can do, and forgets it at another one", () => {
  const { session, sockets, states, pass } = fakeSession();
  sockets[0]?.welcome("me@a");
  expect(session.condition).toBe("serving");
  sockets[0]?.hear({ t: "condition", condition: "stale" });
  expect([session.condition, states]).toEqual(["stale", ["connected", "connected"]]);
  sockets[0]?.onclose?.({ code: 4001 });
  pass();
  sockets[1]?.welcome("me@b");
  expect(session.condition).toBe("serving");
});
