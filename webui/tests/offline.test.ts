import "fake-indexeddb/auto";
import { beforeEach, expect, test, vi } from "vitest";
import { LAST, lookWhoIsHere, signOut } from "../src/account/session";
import { ApiError } from "../src/api";
import { type Build, KeptBuild } from "../src/offline/kept-build";
import { keptDocuments } from "../src/offline/kept-documents";
import { whoWas } from "../src/offline/last";
import { type Kept, Store } from "../src/store";

/** The caches of one browser, by name and path. */
class Caches {
  readonly all = new Map<string, Map<string, Response>>();

  async open(name: string): Promise<Cache> {
    const found = this.all.get(name) ?? new Map<string, Response>();
    this.all.set(name, found);
    return {
      put: async (path: string, response: Response) => void found.set(path, response),
      match: async (path: string) => found.get(path)?.clone(),
    } as unknown as Cache;
  }

  async match(path: string): Promise<Response | undefined> {
    return [...this.all.values()]
      .find((one) => one.has(path))
      ?.get(path)
      ?.clone();
  }

  keys = async (): Promise<string[]> => [...this.all.keys()];
  delete = async (name: string): Promise<boolean> => this.all.delete(name);
}

/** A node with one build, a browser with its caches. */
class Stage {
  readonly caches = new Caches();
  readonly asked: string[] = [];
  files = new Map<string, string>();
  isSlow = false;

  serve(page: string, ...files: string[]): Build {
    this.files = new Map([["/", page], ...files.map((name): [string, string] => [name, name])]);
    return { name: page, files };
  }

  kept(build: Build): KeptBuild {
    const tools = {
      caches: this.caches as unknown as CacheStorage,
      fetch: (path: string | Request) => this.fetch(String(path)),
      after: () => (this.isSlow ? Promise.resolve() : new Promise<void>(() => undefined)),
    };
    return new KeptBuild(build, tools);
  }

  fetch(path: string): Promise<Response> {
    this.asked.push(path);
    const text = this.files.get(path);
    return Promise.resolve(new Response(text ?? "", { status: text === undefined ? 404 : 200 }));
  }
}

const textOf = async (asked: Promise<Response>): Promise<string> => (await asked).text();
const never = (): Promise<Response> => new Promise(() => undefined);
const failed = (): Promise<Response> => Promise.reject(new TypeError("no connection"));

test("the page that is kept stands in where no node answers, in time or with sense", async () => {
  const stage = new Stage();
  const kept = stage.kept(stage.serve("old /assets/a-1.js", "/assets/a-1.js"));
  await kept.take();
  expect(await textOf(kept.page(Promise.resolve(new Response("new"))))).toBe("new");
  expect(await textOf(kept.page(failed()))).toBe("old /assets/a-1.js");
  const down = Promise.resolve(new Response("", { status: 503 }));
  expect(await textOf(kept.page(down))).toBe("old /assets/a-1.js");
  const refused = Promise.resolve(new Response("no", { status: 404 }));
  expect(await textOf(kept.page(refused))).toBe("no");
  stage.isSlow = true;
  expect(await textOf(kept.page(never()))).toBe("old /assets/a-1.js");
});

test("where nothing is kept the node is waited for, and its answer is the answer", async () => {
  const stage = new Stage();
  const kept = stage.kept(stage.serve("page", "/assets/a-1.js"));
  stage.isSlow = true;
  expect(await textOf(kept.page(Promise.resolve(new Response("late"))))).toBe("late");
  const down = await kept.page(Promise.resolve(new Response("", { status: 503 })));
  expect(down.status).toBe(503);
  await expect(kept.page(failed())).rejects.toThrow("no connection");
});

test("a build is taken whole or not at all, and never with the page of another", async () => {
  const stage = new Stage();
  const old = stage.kept(stage.serve("old /assets/a-1.js", "/assets/a-1.js"));
  await old.take();
  const build = stage.serve("new /assets/a-2.js", "/assets/a-2.js", "/assets/b-2.js");
  // Behind one address, another node has still the build before.
  stage.files.set("/", "old /assets/a-1.js");
  await expect(stage.kept(build).take()).rejects.toThrow("another build");
  const next = stage.serve("next /assets/a-3.js", "/assets/a-3.js", "/assets/b-3.js");
  stage.files.delete("/assets/b-3.js");
  await expect(stage.kept(next).take()).rejects.toThrow("404");
  expect(await textOf(old.page(failed()))).toBe("old /assets/a-1.js");
});

test("files that did not change are not asked for again; the build before stays, older ones go", async () => {
  const stage = new Stage();
  const builds = [1, 2, 3].map((n) => `page ${n} /assets/a-${n}.js`);
  for (const [at, page] of builds.entries()) {
    const kept = stage.kept(stage.serve(page, `/assets/a-${at + 1}.js`, "/assets/same-0.js"));
    await kept.take();
    await kept.removeOlder();
  }
  expect(stage.asked.filter((path) => path === "/assets/same-0.js")).toHaveLength(1);
  expect(await stage.caches.keys()).toEqual([`page-${builds[1]}`, `page-${builds[2]}`]);
  // A tab of the build before still gets what it loads late.
  expect(await stage.caches.match("/assets/a-2.js")).toBeDefined();
  expect(await stage.caches.match("/assets/a-1.js")).toBeUndefined();
});

const ANN = {
  accounts: true,
  principal: "user:ann",
  user: { id: "ann", name: "Ann", email: "ann@example.org", disabled: false },
  manages: true,
  csrf: "a word",
};

let answer: object | null = ANN;
const DAY_MS = 24 * 3_600_000;

beforeEach(() => {
  vi.stubGlobal("localStorage", {});
  vi.stubGlobal("fetch", async () => {
    if (answer === null) throw new TypeError("no connection");
    return new Response(JSON.stringify(answer));
  });
});

test("who was here last is known until they sign out, or for as long as a sign-in lasts", async () => {
  expect(whoWas()).toBeNull();
  answer = ANN;
  await lookWhoIsHere();
  const known = { hasAccounts: true, principal: "user:ann", manages: false, user: { name: "Ann" } };
  expect(whoWas()).toMatchObject(known);
  expect(String(localStorage[LAST])).not.toContain("a word");
  expect(whoWas(new ApiError("unreachable", ""))).toMatchObject(known);
  expect(whoWas(new ApiError("too_many_requests", ""))).toBeNull();
  expect(whoWas(undefined, Date.now() + 14 * DAY_MS + 1)).toBeNull();
  // A node says so; or it is asked for where no node hears it.
  answer = { accounts: true, principal: null, user: null };
  await lookWhoIsHere();
  expect(whoWas()).toBeNull();
  answer = ANN;
  await lookWhoIsHere();
  answer = null;
  await expect(signOut()).rejects.toThrow();
  expect(whoWas()).toBeNull();
  localStorage[LAST] = "{";
  expect(whoWas()).toBeNull();
});

const own = (...verbs: unknown[]): unknown[] => verbs.map((verb) => ({ verb, edits: 1 }));

function keptOf(doc: string, principal: string, verbs: unknown[]): Kept {
  const outline = [{ title: `${doc}'s title`, blocks: [], seeds: [] }, {}];
  const state = { drafts: [], outline: verbs.length > 0 ? outline : null, own: verbs };
  const session = {} as Kept["session"];
  return { doc, client: `${principal} ${doc}`, principal, session, state, drafts: [] };
}

test("documents with unsent edits of a person are told, with as many changes as they would count", async () => {
  const store = await Store.open();
  const letters = [..."Hello"].map((letter, at) => ["edit", "b1", [at, letter]]);
  await store.keep(keptOf("plan", "user:ann", own(...letters, ["edit", "b2", ["x"]])));
  await store.keep(keptOf("list", "user:ann", own(["rename", "My list"])));
  await store.keep(keptOf("sent", "user:ann", own()));
  await store.keep(keptOf("other", "user:bob", own(["edit", "b1", ["secret"]])));
  store.close();
  const found = await keptDocuments("user:ann");
  expect(found.sort((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
    { id: "list", isPlace: false, title: "My list", places: 1, isShowable: true },
    { id: "plan", isPlace: false, title: "plan's title", places: 2, isShowable: true },
  ]);
});
