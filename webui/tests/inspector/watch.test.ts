import { expect, test } from "vitest";
import type { Session } from "../../src/client";
import type { In, Inspected, InspectedObject, Out } from "../../src/client/messages";
import { type Row, sorted, Watch } from "../../src/inspector/watch";

/** A session that is looked at, with a clock that the test moves. */
class Desk {
  now_ms = 0;
  looks = 0;
  isAway = false;
  objects: InspectedObject[] = [];
  timers: (() => void)[] = [];
  tap: Session["tap"] = null;
  readonly watch: Watch;

  constructor() {
    const session = this as unknown as Pick<Session, "inspect" | "tap">;
    this.watch = new Watch(session, {
      now_ms: () => this.now_ms,
      after: (_, act) => {
        this.timers = [act];
        return () => {
          this.timers = [];
        };
      },
      changed: () => undefined,
    });
  }

  async inspect(): Promise<Inspected> {
    this.looks += 1;
    this.now_ms += 7;
    if (this.isAway) throw new Error("away");
    const at = { node: "a", primary: true } as Inspected["at"];
    const session = { resumed: 2 } as Inspected["session"];
    return { t: "inspected", n: this.looks, at, session, objects: this.objects };
  }

  hears(message: object): void {
    this.tap?.("in", message as In);
  }

  says(message: object): void {
    this.tap?.("out", message as Out);
  }

  async next(): Promise<void> {
    await turn();
    this.timers.shift()?.();
    await turn();
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("it is looked at once a second while it is open, and no more behind that", async () => {
  const desk = new Desk();
  await turn();
  await desk.next();
  expect([desk.looks, desk.watch.seen?.roundTrip_ms, desk.watch.seen?.session.resumed]).toEqual([
    2, 7, 2,
  ]);
  desk.isAway = true;
  await desk.next();
  await desk.next();
  expect(desk.looks).toBe(4);
  desk.watch.stop();
  expect([desk.timers, desk.tap]).toEqual([[], null]);
});

test("own calls are timed until their answers, by object", async () => {
  const desk = new Desk();
  desk.objects = [{ name: "doc/x/b1", type: "Block" }];
  for (const [n, time_ms] of [
    [1, 10],
    [2, 30],
    [3, 20],
  ] as const) {
    desk.says({ t: "call", name: "doc/x/b1", n, calls: [] });
    desk.now_ms += time_ms;
    desk.hears({ t: "result", name: "doc/x/b1", n });
  }
  desk.hears({ t: "result", name: "doc/x/b1", n: 99 });
  await turn();
  await desk.next();
  const [row] = desk.watch.seen?.rows ?? [];
  expect([row?.p50_ms, row?.p99_ms]).toEqual([20, 30]);
});

test("a migration is marked in the row and noted among the events", async () => {
  const desk = new Desk();
  desk.objects = [{ name: "doc/x", type: "DocumentOutline", sequencer: "a", epoch: 1 }];
  await desk.next();
  expect(desk.watch.seen?.rows[0]?.hasMoved).toBe(false);
  desk.objects = [{ name: "doc/x", type: "DocumentOutline", sequencer: "b", epoch: 2 }];
  await desk.next();
  expect(desk.watch.seen?.rows[0]?.hasMoved).toBe(true);
  expect(desk.watch.log.at(-1)).toMatchObject({
    way: "moved",
    detail: { from: "a", to: "b", epoch: 2 },
  });
  desk.now_ms += 9_000;
  await desk.next();
  expect(desk.watch.seen?.rows[0]?.hasMoved).toBe(false);
});

test("the last 200 events are kept, none while paused, and the looks themselves never", () => {
  const desk = new Desk();
  for (let n = 0; n < 300; n += 1) desk.hears({ t: "changes", name: "doc/x", version: n });
  desk.says({ t: "inspect", n: 1 });
  expect(desk.watch.log.length).toBe(200);
  expect(desk.watch.log.at(-1)?.detail).toMatchObject({ version: 299 });
  desk.watch.pause(true);
  desk.hears({ t: "saved", name: "doc/x", n: 7 });
  expect(desk.watch.log.at(-1)?.kind).toBe("changes");
  desk.watch.pause(false);
  expect(desk.watch.log.at(-1)?.kind).toBe("saved");
  expect(JSON.parse(desk.watch.report).log.length).toBe(200);
});

test("rows are in the order of a column, what is not known last", () => {
  const rows = [
    { name: "b2", epoch: 10 },
    { name: "b10", epoch: 9 },
    { name: "b1" },
  ] as unknown as Row[];
  const names = (by: keyof Row, isDown: boolean) =>
    sorted(rows, by, isDown).map(({ name }) => name);
  expect(names("name", false)).toEqual(["b1", "b2", "b10"]);
  expect(names("epoch", false)).toEqual(["b10", "b2", "b1"]);
  expect(names("epoch", true)).toEqual(["b2", "b10", "b1"]);
});
