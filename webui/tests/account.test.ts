// @vitest-environment jsdom

import { afterEach, expect, test, vi } from "vitest";
import { auditLog, inRuns, wordsAbout } from "../src/account/sharing";
import { fetchTicket, nodeOf } from "../src/account/ticket";
import { agentName, deedName } from "../src/account/words";
import { ask, onSignedOut, secure, send } from "../src/api";
import { isOurPath, routeOf, safeReturn, signInPath } from "../src/router";

interface Asked {
  readonly url: string;
  readonly init: RequestInit;
}

/** Answers in this order; what was asked. */
function answering(...answers: (readonly [number, unknown])[]): Asked[] {
  const asked: Asked[] = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    asked.push({ url, init });
    const [status, body] = answers.shift() ?? [500, {}];
    return new Response(JSON.stringify(body), { status });
  });
  return asked;
}

afterEach(() => {
  vi.unstubAllGlobals();
  secure(null);
  onSignedOut(() => undefined);
});

const OWN = `ws://${location.hostname}:9/ws`;

test("a ticket comes from the node that the socket goes to, with the word against forgery", async () => {
  secure("word");
  const asked = answering([201, { ticket: "gcs_1" }]);
  expect(await fetchTicket(OWN)).toBe("gcs_1");
  expect(asked[0]?.url).toBe(`${nodeOf(OWN)}/api/v1/ticket`);
  expect(asked[0]?.init).toMatchObject({
    method: "POST",
    credentials: "include",
    headers: { "X-Groupcore-CSRF": "word" },
  });
});

test("who is not signed in any more has to sign in; at a foreign host that is that node's", async () => {
  answering([401, {}], [401, {}]);
  expect(await fetchTicket(OWN)).toBeNull();
  await expect(fetchTicket("wss://other.example.org/ws")).rejects.toThrow("not signed in at");
});

test("a word of an earlier sign-in is looked up again", async () => {
  secure("old");
  const asked = answering(
    [403, { code: "forged" }],
    [200, { principal: "user:1", csrf: "new" }],
    [201, { ticket: "gcs_2" }],
  );
  expect(await fetchTicket(OWN)).toBe("gcs_2");
  expect(asked[2]?.init.headers).toEqual({ "X-Groupcore-CSRF": "new" });
});

test("a node that fails gives no ticket, and is not taken for a refusal", async () => {
  answering([503, {}]);
  await expect(fetchTicket(OWN)).rejects.toThrow("503");
});

test("requests say the word, problems keep their codes, and an end of the sign-in is told", async () => {
  const told: string[] = [];
  onSignedOut(() => told.push("out"));
  secure("word");
  const problem = { code: "unauthenticated", detail: "sign in first" };
  const asked = answering([401, problem], [409, { code: "last_owner", detail: "keep one" }]);
  await expect(ask("/api/v1/me")).rejects.toMatchObject({ code: "unauthenticated" });
  await expect(send("PATCH", "/me", { name: "x" })).rejects.toMatchObject({ code: "last_owner" });
  expect(told).toEqual(["out"]);
  expect(asked[1]?.init.headers).toMatchObject({ "X-Groupcore-CSRF": "word" });
});

test("a request that makes something has a key, another each time", async () => {
  const asked = answering([201, {}], [201, {}]);
  await send("POST", "/tokens", {}, true);
  await send("POST", "/tokens", {}, true);
  const keys = asked.map(({ init }) => (init.headers as Record<string, string>)["Idempotency-Key"]);
  expect(new Set(keys).size).toBe(2);
  expect(keys.every((key) => key !== undefined && key.length >= 16)).toBe(true);
});

test("a sign-in leads back to a path of this page, never to another site", () => {
  expect(safeReturn("/doc/plan")).toBe("/doc/plan");
  const hostile = ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:1"];
  for (const path of [...hostile, "/\t/evil.example", "/sign-in?to=/sign-in", "", null]) {
    const found = safeReturn(path);
    expect(new URL(found, location.origin).origin).toBe(location.origin);
    expect(found.startsWith("//")).toBe(false);
  }
  expect(signInPath("/doc/a b")).toBe("/sign-in?to=%2Fdoc%2Fa%20b");
});

test("the page knows its own paths, and nothing else", () => {
  expect(routeOf("/people")).toEqual({ page: "people" });
  expect(routeOf("/doc/plan")).toEqual({ page: "document", id: "plan" });
  expect(routeOf("/unknown")).toEqual({ page: "nowhere" });
  expect(["/", "/join", "/api/v1/x", "/doc/a/b"].map(isOurPath)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});

test("browsers are called by their names", () => {
  const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120.0 Safari/537.36";
  expect(agentName(chrome)).toBe("Chrome on Linux");
  expect(agentName("curl/8")).toBe("curl/8");
  expect(agentName("")).toBe("Unknown program");
});

test("what was done is said in words, and a code that is new as it is", () => {
  expect(deedName("owner_link.created")).toBe("Link for the first owner printed");
  expect(deedName("signed_in")).toBe("Signed in");
  expect(deedName("to.string")).toBe("to.string");
});

test("the audit log says names, and no ids of what has none or may not be seen", async () => {
  const entry = { number: 1, at_ms: 0, by: "user:u1", what: "link.created" };
  answering(
    [
      200,
      {
        entries: [
          { ...entry, about: "d1 k9 viewer" },
          { ...entry, by: "admin", about: "u1" },
          { ...entry, by: "link:k9", about: "d7" },
          { ...entry, by: "user:u8", about: "home u1" },
        ],
      },
    ],
    [200, { users: [{ id: "u1", name: "Ann", email: "ann@example.org" }] }],
    [
      200,
      {
        workspaces: [{ id: "home", name: "Choir" }],
        folders: [],
        documents: [{ id: "d1", title: "Plan" }],
      },
    ],
  );
  const log = await auditLog();
  expect(log.map(({ by, about }) => [by, about])).toEqual([
    ["Ann", "Plan, Can read"],
    ["Whoever runs the server", "Ann"],
    ["Somebody by a link", ""],
    ["u8", "Choir, Ann"],
  ]);
});

test("what an audited deed was about is said in words", () => {
  const names = new Map([["d1", "Plan"]]);
  expect(wordsAbout("document.moved", "d1 w7 f7", names)).toBe(
    "Plan, not to be seen here, not to be seen here",
  );
  expect(wordsAbout("token.created", "u1 k7", names)).toBe("");
  expect(wordsAbout("documents.adopted", "3", names)).toBe("3");
  expect(wordsAbout("audit.read", "times=1200", names)).toBe("1,200 times");
  expect(wordsAbout("document.exported", "d1 times=3", names)).toBe(
    `${names.get("d1") ?? ""}, 3 times`,
  );
  expect(wordsAbout("request.refused", "GET /admin/log times=29", names)).toBe(
    "GET /admin/log, 29 times",
  );
  expect(wordsAbout("request.refused", "others", names)).toBe("others");
  expect(wordsAbout("sign_in.denied", "eve@example.org", names)).toBe("eve@example.org");
});

test("an import is one row of the audit log, and what others did between is not hidden by it", () => {
  const deed = (number: number, what: string, by = "Ann", minute = 0) => {
    const at = new Date(number * 100 + minute * 60_000).toJSON();
    return { number, at, by, what, about: `about ${number}` };
  };
  const made = [1, 2, 3, 4, 5].map((number) => deed(number, "document.created"));
  const shown = inRuns([
    ...made,
    deed(6, "document.created", "Bob"),
    deed(7, "folder.created"),
    ...[8, 9, 10].map((number) => deed(number, "document.created")),
    deed(11, "document.created", "Ann", 5),
  ]);
  expect(shown.map(({ number }) => number)).toEqual([1, 6, 7, 8, 9, 10, 11]);
  expect(shown[0]?.about).toBe("about 1, and 4 more");
});
