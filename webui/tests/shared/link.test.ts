import { decode, encode } from "@msgpack/msgpack";
import { expect, test } from "vitest";
import { Link, retryAfter, type Socket } from "../../src/shared/link";

class FakeSocket implements Socket {
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number; reason?: string }) => void) | null = null;
  sent: unknown[] = [];
  closedWith: number | null = null;
  readyState = 1;

  constructor(readonly url: string) {}

  send(data: Uint8Array<ArrayBuffer>): void {
    this.sent.push(decode(data));
  }

  close(code?: number): void {
    this.closedWith = code ?? 1000;
  }

  hear(...messages: unknown[]): void {
    this.onmessage?.({ data: encode(messages) });
  }

  welcome(): void {
    this.onopen?.();
    this.hear({ t: "welcome", heartbeat_s: 25 });
  }
}

interface Message {
  readonly t: string;
}
interface Welcome extends Message {
  readonly t: "welcome";
  readonly heartbeat_s: number;
}

const STOPS = {
  1008: "refused",
  1009: "too big",
  4401: "signed out",
  4403: "over",
  4409: "elsewhere",
  4426: "older",
};

function read(data: unknown): Message[] | null {
  const found = decode(data as Uint8Array);
  return Array.isArray(found) ? (found as Message[]) : null;
}

interface Timer {
  at: number;
  callback: () => void;
}

/** A connection on sockets and timers that the test moves. */
class Stage {
  sockets: FakeSocket[] = [];
  log: string[] = [];
  now = 0;
  private timers: Timer[] = [];
  readonly connection: Link<Message, Message, Welcome>;
  readonly onFrame = (): void => {
    this.log.push("followed");
  };

  constructor(
    urls = ["ws://a/ws", "ws://b/ws"],
    random = 0.5,
    pass?: (url: string) => Promise<string | null>,
    kept?: (messages: readonly Message[]) => Promise<void> | undefined,
  ) {
    this.connection = new Link<Message, Message, Welcome>(
      urls,
      {
        greeting: (shown) => ({ t: shown === "" ? "hello" : `hello with ${shown}` }),
        ...(pass === undefined ? {} : { pass }),
        ...(kept === undefined ? {} : { kept }),
        pong: { t: "pong" },
        encode: (messages) => new Uint8Array(encode(messages)),
        decode: read,
        stops: STOPS,
      },
      {
        connected: () => this.log.push("connected"),
        disconnected: () => this.log.push("disconnected"),
        received: (message) => {
          this.log.push(message.t);
          if (message.t === "follow") this.connection.afterFrame(this.onFrame);
        },
        stopped: (reason) => this.log.push(`stopped ${reason.code}`),
      },
      {
        openSocket: (url) => {
          const socket = new FakeSocket(url);
          this.sockets.push(socket);
          return socket;
        },
        after: (delay, callback) => {
          const timer = { at: this.now + delay, callback };
          this.timers.push(timer);
          return () => {
            this.timers = this.timers.filter((other) => other !== timer);
          };
        },
        random: () => random,
      },
    );
    this.connection.start();
  }

  get last(): FakeSocket {
    const socket = this.sockets[this.sockets.length - 1];
    if (socket === undefined) throw new Error("no socket yet");
    return socket;
  }

  pass(duration_ms: number): void {
    const end = this.now + duration_ms;
    for (;;) {
      const due = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== due);
      this.now = due.at;
      due.callback();
    }
    this.now = end;
  }
}

test("nothing is said into a socket that its node is closing", () => {
  const stage = new Stage();
  stage.last.welcome();
  stage.last.readyState = 2;
  stage.connection.send({ t: "call" });
  stage.pass(0);
  expect(stage.last.sent).toEqual([[{ t: "hello" }]]);
  stage.last.readyState = 1;
  stage.connection.send({ t: "call" });
  stage.pass(0);
  expect(stage.last.sent).toEqual([[{ t: "hello" }], [{ t: "call" }]]);
});

test("the first frame is hello, and the owner hears of the connection after welcome", () => {
  const stage = new Stage();
  expect(stage.log).toEqual([]);
  stage.last.welcome();
  expect(stage.last.sent).toEqual([[{ t: "hello" }]]);
  expect(stage.log).toEqual(["connected"]);
});

test("messages of one turn go in one frame, 64 at most", () => {
  const stage = new Stage();
  stage.last.welcome();
  for (let count = 0; count < 70; count += 1) stage.connection.send({ t: "pong" });
  stage.pass(0);
  expect(stage.last.sent.slice(1).map((frame) => (frame as unknown[]).length)).toEqual([64, 6]);
});

test("what follows from messages is done once, behind the whole frame; between frames at once", () => {
  const stage = new Stage();
  stage.last.welcome();
  stage.last.hear({ t: "follow" }, { t: "follow" }, { t: "one" });
  stage.connection.afterFrame(stage.onFrame);
  expect(stage.log).toEqual(["connected", "follow", "follow", "one", "followed", "followed"]);
});

test("what is said when the page is left goes out at once, and once", () => {
  const stage = new Stage();
  stage.last.welcome();
  const before = stage.last.sent.length;
  stage.connection.send({ t: "bye" });
  stage.connection.flush();
  expect(stage.last.sent.slice(before)).toEqual([[{ t: "bye" }]]);
  stage.pass(0);
  expect(stage.last.sent.length).toBe(before + 1);
});

test("a ping is answered", () => {
  const stage = new Stage();
  stage.last.welcome();
  stage.last.hear({ t: "ping" });
  stage.pass(0);
  expect(stage.last.sent[1]).toEqual([{ t: "pong" }]);
});

test("a lost socket is tried again on the next node", () => {
  const stage = new Stage();
  stage.last.welcome();
  stage.last.onclose?.({ code: 1006 });
  expect(stage.log).toEqual(["connected", "disconnected"]);
  stage.pass(1_000);
  expect(stage.sockets.map((socket) => socket.url)).toEqual(["ws://a/ws", "ws://b/ws"]);
});

test("the time between tries grows to a bound, and chance spreads it", () => {
  const delays = [0, 1].map((random) => {
    const stage = new Stage(["ws://a/ws"], random);
    const times: number[] = [];
    for (let count = 0; count < 9; count += 1) {
      const before = stage.now;
      stage.last.onclose?.({ code: 1006 });
      const known = stage.sockets.length;
      while (stage.sockets.length === known) stage.pass(10);
      times.push(stage.now - before);
    }
    return times;
  });
  expect(Math.max(...(delays[0] ?? []))).toBeLessThanOrEqual(110);
  expect(delays[1]?.[0]).toBeLessThanOrEqual(210);
  expect(delays[1]?.at(-1)).toBeGreaterThan(5_000);
});

test("nothing of a socket that was given up reaches the owner (C1)", () => {
  const stage = new Stage();
  const old = stage.last;
  old.welcome();
  stage.connection.retryNow();
  old.hear({ t: "status", state: "stale" });
  old.onclose?.({ code: 1000 });
  expect(stage.log).toEqual(["connected", "disconnected"]);
  expect(stage.sockets.length).toBe(2);
});

test("a silence of two heartbeats ends the socket (C2)", () => {
  const stage = new Stage();
  stage.last.welcome();
  const first = stage.last;
  stage.pass(49_000);
  first.hear({ t: "ping" });
  stage.pass(49_000);
  expect(first.closedWith).toBeNull();
  stage.pass(2_000);
  expect(first.closedWith).toBe(4003);
  expect(stage.sockets.length).toBe(2);
});

test.each([1008, 1009, 4409, 4426])("close code %i stops for good (C3)", (code) => {
  const stage = new Stage();
  stage.last.welcome();
  stage.last.onclose?.({ code });
  stage.pass(60_000);
  expect(stage.log).toEqual(["connected", "disconnected", `stopped ${code}`]);
  expect(stage.sockets.length).toBe(1);
});

test("a drained node is left at once", () => {
  const stage = new Stage();
  stage.last.welcome();
  stage.last.onclose?.({ code: 4001 });
  stage.pass(0);
  expect(stage.last.url).toBe("ws://b/ws");
});

test("when no node is ready, none is tried before the time that was named (C5)", () => {
  const stage = new Stage(["ws://a/ws", "ws://b/ws"], 0);
  const notReady = { code: 1013, reason: '{"retry_after_ms": 2000}' };
  stage.last.onclose?.(notReady);
  stage.pass(100);
  expect(stage.last.url, "the other one may be ready").toBe("ws://b/ws");
  stage.last.onclose?.(notReady);
  stage.pass(1_999);
  expect(stage.sockets.length).toBe(2);
  stage.pass(1);
  expect(stage.last.url).toBe("ws://a/ws");
  stage.last.onclose?.({ code: 1006 });
  stage.pass(100);
  expect(stage.sockets.length, "that was another reason").toBe(4);
});

test("a reason that names no time asks for none, and no time is longer than a minute", () => {
  expect(["", "busy", '{"retry_after_ms": -5}'].map(retryAfter)).toEqual([0, 0, 0]);
  expect(retryAfter('{"retry_after_ms": 999999999}')).toBe(60_000);
});

test("a frame that is no array of messages ends the socket, and another is tried", () => {
  const stage = new Stage();
  stage.last.welcome();
  const first = stage.last;
  first.onmessage?.({ data: encode({ t: "ping" }) });
  expect(first.closedWith).toBe(4400);
  stage.pass(1_000);
  expect(stage.sockets.length).toBe(2);
});

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("each socket has a pass of its own, from the node that it goes to", async () => {
  let count = 0;
  const stage = new Stage(["ws://a/ws", "ws://b/ws"], 0, async (url) => {
    count += 1;
    return `${count} of ${url}`;
  });
  expect(stage.sockets).toEqual([]);
  await turn();
  stage.last.welcome();
  expect(stage.last.sent[0]).toEqual([{ t: "hello with 1 of ws://a/ws" }]);
  stage.last.onclose?.({ code: 1006 });
  stage.pass(1_000);
  await turn();
  stage.last.welcome();
  expect(stage.last.sent[0]).toEqual([{ t: "hello with 2 of ws://b/ws" }]);
});

test("a pass that is not good is asked for again; without any, nothing is tried any more", async () => {
  const passes: (string | null)[] = ["old", null];
  const stage = new Stage(["ws://a/ws"], 0, async () => passes.shift() ?? null);
  await turn();
  stage.last.onopen?.();
  stage.last.onclose?.({ code: 4401 });
  expect(stage.log).toEqual([]);
  stage.pass(1_000);
  await turn();
  expect([stage.log, stage.sockets.length]).toEqual([["stopped 4401"], 1]);
  stage.pass(60_000);
  await turn();
  expect(stage.sockets.length).toBe(1);
});

test("a node that gives no pass is left for the next one", async () => {
  const asked: string[] = [];
  const stage = new Stage(["ws://a/ws", "ws://b/ws"], 0, async (url) => {
    asked.push(url);
    if (asked.length === 1) throw new Error("away");
    return "pass";
  });
  await turn();
  stage.pass(1_000);
  await turn();
  expect([asked, stage.last.url]).toEqual([["ws://a/ws", "ws://b/ws"], "ws://b/ws"]);
});

test("a pass that comes after the connection was given up is not used", async () => {
  let give: (pass: string) => void = () => undefined;
  const stage = new Stage(["ws://a/ws"], 0, () => new Promise((resolve) => (give = resolve)));
  stage.connection.stop();
  give("late");
  await turn();
  expect(stage.sockets).toEqual([]);
});

test("a node that is silent when asked for a pass is left", async () => {
  const asked: string[] = [];
  const stage = new Stage(["ws://a/ws", "ws://b/ws"], 0, (url) => {
    asked.push(url);
    return new Promise(() => undefined);
  });
  stage.pass(11_000);
  await turn();
  expect(asked).toEqual(["ws://a/ws", "ws://b/ws"]);
});

/** Keeping that ends when the test says so. */
function keeping(): { stage: Stage; done: (() => void)[] } {
  const done: (() => void)[] = [];
  const kept = (messages: readonly Message[]): Promise<void> | undefined =>
    messages.some(({ t }) => t === "call")
      ? new Promise((resolve) => done.push(resolve))
      : undefined;
  return { stage: new Stage(undefined, 0.5, undefined, kept), done };
}

const said = (socket: FakeSocket): unknown[] => socket.sent.flat().slice(1);

test("what has to be kept first goes out when it is kept, and the rest behind it (C4)", async () => {
  const { stage, done } = keeping();
  stage.last.welcome();
  stage.connection.send({ t: "open" });
  stage.pass(0);
  expect(said(stage.last)).toEqual([{ t: "open" }]);
  stage.connection.send({ t: "call" });
  stage.pass(0);
  stage.connection.send({ t: "close" });
  stage.connection.send({ t: "call" });
  stage.pass(0);
  expect(said(stage.last)).toEqual([{ t: "open" }]);
  done[0]?.();
  await Promise.resolve();
  expect(said(stage.last)).toEqual([{ t: "open" }, { t: "call" }]);
  stage.pass(0);
  done[1]?.();
  await Promise.resolve();
  expect(said(stage.last)).toEqual([{ t: "open" }, { t: "call" }, { t: "close" }, { t: "call" }]);
});

test("what was being kept goes out with a page that is left, and not over another socket (C4)", async () => {
  const { stage, done } = keeping();
  stage.last.welcome();
  stage.connection.send({ t: "call" });
  stage.pass(0);
  stage.connection.flush();
  expect(said(stage.last)).toEqual([{ t: "call" }]);
  stage.connection.send({ t: "call" });
  stage.pass(0);
  stage.connection.retryNow();
  stage.last.welcome();
  for (const resolve of done) resolve();
  await Promise.resolve();
  expect(said(stage.last)).toEqual([]);
  stage.connection.send({ t: "open" });
  stage.pass(0);
  expect(said(stage.last)).toEqual([{ t: "open" }]);
});
