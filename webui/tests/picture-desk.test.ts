// @vitest-environment jsdom

import { afterEach, expect, test, vi } from "vitest";
import type { ApiError } from "../src/api";
import { PictureDesk } from "../src/pictures/desk";
import type { StoredPicture } from "../src/pictures/sending";
import type { KeptUpload } from "../src/store";

/** What sends pictures is loaded with the first: what holds until it is there, or cannot be had. */

const FILE = new File(["data"], "cat.png", { type: "image/png" });
const SAVED = { kind: "saved", edits: 0, places: 0 } as const;
const STORED: StoredPicture = { picture: "ab".repeat(32), width: 40, height: 30 };

afterEach(() => {
  vi.doUnmock("../src/pictures/uploads");
  vi.resetModules();
});

function cannotBeLoaded(): void {
  vi.doMock("../src/pictures/uploads", () => {
    throw new Error("no network");
  });
}

function opened(kept: readonly KeptUpload[] | null = []) {
  const store = new Map((kept ?? []).map((one) => [one.id, one]));
  const sent: Blob[] = [];
  const timers: (() => void)[] = [];
  const answers: ApiError[] = [];
  const desk = new PictureDesk(
    {
      doc: "plan",
      principal: "guest",
      store:
        kept === null
          ? null
          : {
              keepUpload: async (one) => void store.set(one.id, one),
              uploads: async () => [...store.values()],
              forgetUpload: async (id) => void store.delete(id),
            },
      take: async () => true,
      after: (_delay_ms, act) => {
        timers.push(act);
        return () => timers.splice(timers.indexOf(act), 1);
      },
      send: async (_doc, file) => {
        const answer = answers.shift();
        if (answer !== undefined) throw answer;
        sent.push(file);
        return STORED;
      },
      copy: async () => STORED,
    },
    () => [],
    () => undefined,
  );
  /** As the editor does it with what is dropped. */
  const drop = (file: File): void => {
    const { acts } = desk.editor as unknown as {
      acts: { add(id: string, file: Blob, name: string, behind: string): void };
    };
    acts.add("u1", file, file.name, "b1");
  };
  return { desk, drop, sent, store, timers, answers };
}

test("a picture is not saved from the moment on in which it comes, and is sent once", async () => {
  const { desk, drop, sent, store } = opened();
  drop(FILE);
  expect(desk.with(SAVED)).toEqual({ kind: "saving", edits: 1, places: 1 });
  expect(store.has("u1")).toBe(true);
  await vi.waitFor(() => expect(sent).toEqual([FILE]));
  await vi.waitFor(() => expect(desk.with(SAVED)).toEqual(SAVED));
  expect(store.size).toBe(0);
  expect(desk.wouldLose).toBe(false);
});

test("without the code that sends it, a picture is kept, and goes as soon as that can be had", async () => {
  cannotBeLoaded();
  const { desk, drop, sent, store, timers } = opened();
  drop(FILE);
  await vi.waitFor(() => expect(timers.length).toBe(1));
  expect(desk.with(SAVED).kind).toBe("saving");
  expect([...store.keys()]).toEqual(["u1"]);
  expect(desk.wouldLose).toBe(false);
  vi.doUnmock("../src/pictures/uploads");
  desk.wake();
  await vi.waitFor(() => expect(sent).toEqual([FILE]));
  await vi.waitFor(() => expect(desk.with(SAVED)).toEqual(SAVED));
  expect(timers).toEqual([]);
});

test("where the browser keeps nothing, closing would lose what is not sent yet", async () => {
  cannotBeLoaded();
  const { desk, drop, sent, timers } = opened(null);
  drop(FILE);
  await vi.waitFor(() => expect(timers.length).toBe(1));
  expect(desk.wouldLose).toBe(true);
  vi.doUnmock("../src/pictures/uploads");
  timers.shift()?.();
  await vi.waitFor(() => expect(sent).toEqual([FILE]));
  await vi.waitFor(() => expect(desk.wouldLose).toBe(false));
});

test("what an earlier tab left behind is sent, and where nothing was left nothing is loaded", async () => {
  const work = { kind: "file", file: FILE, name: "cat.png", behind: "b1" } as const;
  const { desk, sent, store } = opened([{ id: "u1", doc: "plan", principal: "guest", work }]);
  await desk.restore(() => false);
  await vi.waitFor(() => expect(sent).toEqual([FILE]));
  await vi.waitFor(() => expect(store.size).toBe(0));
  cannotBeLoaded();
  const empty = opened();
  await empty.desk.restore(() => false);
  empty.desk.wake();
  expect(empty.timers).toEqual([]);
  expect(empty.desk.with(SAVED)).toEqual(SAVED);
});

test("what is of no kind that nodes take is sent nowhere", async () => {
  const { desk, drop, sent } = opened();
  drop(new File(["data"], "cat.tiff", { type: "image/tiff" }));
  await vi.waitFor(() => expect(desk.kept).toBe(1));
  expect(sent).toEqual([]);
});
