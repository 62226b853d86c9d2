// @vitest-environment jsdom

import { expect, test } from "vitest";
import { ApiError } from "../src/api";
import { markdownOf } from "../src/editor/copying";
import { picturesIn, readBlocks, tamed } from "../src/editor/html";
import { blockType, toBlock, toNode } from "../src/editor/schema";
import { copiedPictures } from "../src/pictures/plugin";
import { pictureUrl, type StoredPicture } from "../src/pictures/sending";
import { type Upload, type UploadStore, Uploads } from "../src/pictures/uploads";
import type { KeptUpload } from "../src/store";

const HASH = "ab".repeat(32);
const STORED: StoredPicture = { picture: HASH, width: 40, height: 30 };
const FILE = new Blob(["data"], { type: "image/png" });
const OWNER = { doc: "plan", principal: "guest" };

/** A file that is to stand behind the block b1. */
function file(id: string, name: string): KeptUpload {
  return { ...OWNER, id, work: { kind: "file", file: FILE, name, behind: "b1" } };
}

class MemoryStore implements UploadStore {
  readonly kept = new Map<string, KeptUpload>();
  async keepUpload(upload: KeptUpload): Promise<void> {
    this.kept.set(upload.id, upload);
  }
  async uploads(): Promise<KeptUpload[]> {
    return [...this.kept.values()];
  }
  async forgetUpload(id: string): Promise<void> {
    this.kept.delete(id);
  }
}

/** A desk whose node answers as `answers` say, one after the other; then it takes everything. */
function desk(answers: (StoredPicture | Error)[], store: UploadStore | null = new MemoryStore()) {
  const told: string[] = [];
  const shown = new Map<string, Upload>();
  const timers: (() => void)[] = [];
  const give = async (): Promise<StoredPicture> => {
    const next = answers.shift() ?? STORED;
    if (next instanceof Error) throw next;
    return next;
  };
  const uploads = new Uploads(
    {
      ...OWNER,
      store,
      take: async () => true,
      after: (_delay_ms, act) => {
        timers.push(act);
        return () => timers.splice(timers.indexOf(act), 1);
      },
      send: give,
      copy: (_doc, from, picture) => {
        told.push(`copy ${picture.slice(0, 2)} of ${from}`);
        return give();
      },
    },
    {
      begun: (upload, behind) => {
        told.push(`begun ${upload.id} behind ${behind}`);
        shown.set(upload.id, upload);
      },
      changed: (upload) => shown.set(upload.id, upload),
      ended: (id, stored) => told.push(`ended ${id} ${stored === null ? "taken back" : "stored"}`),
    },
  );
  return { uploads, told, shown, timers, store };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

test("a file is sent, becomes a block once, and is forgotten", async () => {
  const { uploads, told, store } = desk([]);
  await uploads.put(file("u1", "cat.png"));
  await settled();
  expect(told).toEqual(["begun u1 behind b1", "ended u1 stored"]);
  expect((store as MemoryStore).kept.size).toBe(0);
  expect(uploads.waiting).toBe(0);
});

test("offline a file is kept, and sent when a node is there again", async () => {
  const away = new ApiError("unreachable", "no node answers");
  const { uploads, told, shown, timers, store } = desk([away, away]);
  await uploads.put(file("u1", "cat.png"));
  await settled();
  expect(shown.get("u1")?.stage).toBe("waiting");
  expect((store as MemoryStore).kept.size).toBe(1);
  expect(uploads.waiting).toBe(1);
  timers.shift()?.();
  await settled();
  expect(told).not.toContain("ended u1 stored");
  uploads.retry();
  await settled();
  expect(told).toContain("ended u1 stored");
});

test("what a tab left behind is sent by the next one, and what is in the text already is not", async () => {
  const store = new MemoryStore();
  const away = desk([new ApiError("unreachable", "")], store);
  await away.uploads.put(file("u1", "cat.png"));
  await settled();
  away.uploads.close();
  await store.keepUpload(file("u2", "dog.png"));
  const next = desk([], store);
  await next.uploads.restore((id) => id === "u2");
  await settled();
  expect(next.told).toEqual(["begun u1 behind b1", "ended u1 stored"]);
  expect(store.kept.size).toBe(0);
});

test("what is no picture is told, kept for the person to decide, and stops no other", async () => {
  const { uploads, told, shown } = desk([new ApiError("not_a_picture", "This is no picture.")]);
  await uploads.put(file("u1", "cat.exe"));
  await uploads.put(file("u2", "cat.png"));
  await settled();
  expect(shown.get("u1")).toMatchObject({ stage: "failed", problem: "This is no picture." });
  expect(told).toContain("ended u2 stored");
  expect(uploads.waiting).toBe(0);
  uploads.retry("u1");
  await settled();
  expect(told).toContain("ended u1 stored");
});

test("an upload that is taken back is over, whatever the node says then", async () => {
  const { uploads, told, store } = desk([]);
  const added = uploads.put(file("u1", "cat.png"));
  uploads.cancel("u1");
  await added;
  await settled();
  expect(told).toEqual(["begun u1 behind b1", "ended u1 taken back"]);
  expect((store as MemoryStore).kept.size).toBe(0);
});

test("a browser that keeps nothing would lose what waits, and says so", async () => {
  const { uploads } = desk([new ApiError("unreachable", "")], null);
  await uploads.put(file("u1", "cat.png"));
  await settled();
  expect(uploads.wouldLose).toBe(true);
  uploads.cancel("u1");
  expect(uploads.wouldLose).toBe(false);
});

test("pictures of copied blocks are asked for their documents, each once", async () => {
  const address = pictureUrl("plan", HASH, "https://docs.example.org");
  const html = `<figure><img src="${address}"></figure><img src="${address}"><img src="/x.png">`;
  const found = copiedPictures(html);
  expect(found).toEqual([{ from: "plan", picture: HASH }]);
  const { uploads, told } = desk([]);
  await uploads.put({ ...OWNER, id: "c1", work: { kind: "copy", from: "notes", picture: HASH } });
  await settled();
  expect(told).toEqual(["copy ab of notes", "ended c1 stored"]);
});

function read(html: string) {
  const host = document.createElement("div");
  host.innerHTML = tamed(html);
  return readBlocks(host);
}

test("an image of another page becomes a link, and loads nothing", () => {
  const [block] = read('<p>See <img src="https://evil.example/spy.png" alt="the plan"> here</p>');
  expect(block?.textContent).toBe("See the plan here");
  const marks = toBlock(blockType.create({ id: "b" }, block?.content)).content;
  expect(JSON.stringify(marks)).toContain('{"link":"https://evil.example/spy.png"}');
  const [inline] = read('<p>a<img src="data:image/png;base64,AAAA">b</p>');
  expect(inline?.textContent).toBe("ab");
});

test("a picture that is in the HTML becomes a file, and what only keeps a distance does not", async () => {
  const data = "data:image/png;base64,aGVsbG8=";
  const host = document.createElement("div");
  host.innerHTML = tamed(
    `<p>a<img src="${data}" alt="a cat">b</p><img src="${data}" width="1" alt="">
     <img src="data:image/png;base64,!"><img src="data:text/html;base64,aGVsbG8=">`,
  );
  const files = picturesIn(host);
  expect(files.map(({ name, type }) => [name, type])).toEqual([["a cat", "image/png"]]);
  expect(files[0]?.size).toBe(5);
  expect(readBlocks(host).map((block) => block.textContent)).toEqual(["ab"]);
});

test("a copied image block comes in as it was, and a forged one is no image", () => {
  const tag = (picture: string): string =>
    `<figure data-type="image" data-picture="${picture}" data-width="40" data-height="30"
      data-alt="a cat"><img src="https://x.example/a"><figcaption>Our <b>cat</b></figcaption></figure>`;
  const [block] = read(tag(HASH));
  expect(block?.attrs).toMatchObject({ type: "image", picture: HASH, width: 40, alt: "a cat" });
  expect(block?.textContent).toBe("Our cat");
  const [bare, rest] = read(tag(HASH).replace("Our <b>cat</b>", ""));
  expect([bare?.attrs.picture, bare?.textContent, rest]).toEqual([HASH, "", undefined]);
  for (const forged of ["../../x", "javascript:alert(1)"]) {
    expect(read(tag(forged)).some(({ attrs }) => attrs.type === "image")).toBe(false);
  }
});

test("an image block goes out as Markdown with its caption, and stays what it was in the model", () => {
  const attributes = { type: "image", picture: HASH, width: 40, height: 30, alt: "a [cat]" };
  const block = { id: "b", attributes, content: ["Our cat"], length: 7 };
  const node = toNode(block);
  expect(toBlock(blockType.create(node.attrs, node.content)).attributes).toEqual(attributes);
  const paragraph = blockType.create(null, node.content);
  expect(markdownOf([node, paragraph])).toBe(
    `![a \\[cat\\]](pictures/${HASH})\nOur cat\n\nOur cat`,
  );
});
