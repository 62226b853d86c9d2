import { expect, test } from "vitest";
import "../../src/board/draw/acting/acting-marks";
import type { Mark } from "../../src/board/draw/mark";
import { marksOf } from "../../src/board/draw/marks";
import { copyTo, pastedFrom } from "../../src/board/exchange/clipboard";
import { excalidrawOf } from "../../src/board/exchange/excalidraw-out";
import { jsonOf, thingsIn } from "../../src/board/exchange/json";
import { picturesDrawn } from "../../src/board/exchange/picture-data";
import { svgOf } from "../../src/board/exchange/svg";
import { type Actor, deedsOf } from "../../src/board/model/acts";
import { Camera } from "../../src/board/model/camera";
import { type CardView, wantedNear, wantedOn } from "../../src/board/model/card";
import { newCard } from "../../src/board/model/make";
import { nameOf } from "../../src/board/model/saying";
import { documentIn, documentOf } from "../../src/board/model/settings";
import { type Now, STILL, stateOf } from "../../src/board/model/states";
import { units } from "../../src/board/model/units";
import { deedAt } from "../../src/board/model/zones";
import { named } from "../../src/board/page/documents";
import { PAPER } from "../../src/board/page/theme";
import { drawnPictureUrl } from "../../src/board/pictures/album";
import type { ShownBlock } from "../../src/document/types";
import { type Thing, withProps } from "../../src/place/thing";
import { blocksOf } from "../../src/sheets/blocks";
import { CardDesk, GLANCES_MAX, LIVE_MAX, type Reader } from "../../src/sheets/desk";
import { frameOf } from "../../src/sheets/panel-frame";
import { finished, type Parting } from "../../src/sheets/parting";

const HASH = "ab".repeat(32);
const measure = (text: string, size: number) => text.length * size * 0.5;
const card = (document: string, x = 0, y = 0): Thing =>
  newCard(document, { x: units(x), y: units(y) }, 1);
const block = (
  id: string,
  text: string,
  attributes: Record<string, string | number | boolean> = {},
): ShownBlock => ({
  id,
  attributes: { type: "paragraph", ...attributes },
  content: text === "" ? [] : [text],
  length: text.length,
});
const view = (more: Partial<CardView> = {}): CardView => ({
  state: "live",
  title: "Minutes",
  blocks: blocksOf("doc", [block("a", "All were there.")]),
  notice: "",
  summary: "“All were there.”, 1 block",
  ...more,
});
const showing = (shown: CardView | null): Now => ({ ...STILL, card: () => shown });
const marks = (thing: Thing, now: Now): Mark[] =>
  marksOf(thing, new Map([[thing.id, thing]]), PAPER, measure, now);
const textsOf = (thing: Thing, now: Now): string[] =>
  marks(thing, now).flatMap((mark) => (mark.kind === "text" ? mark.lines : []));
const actor = (mayWrite: boolean): Actor => ({ mayWrite, isOnline: true, isOwn: () => false });

test("a card shows the name and the blocks of its document, as they are now", () => {
  const blocks = blocksOf("doc", [
    block("h", "Agenda", { type: "heading", level: 2 }),
    block("1", "First", { type: "numbered", depth: 0 }),
    block("2", "Deeper", { type: "numbered", depth: 1 }),
    block("3", "Second", { type: "numbered", depth: 0 }),
    block("b", "Loose", { type: "bullet" }),
    block("t", "Done", { type: "todo", checked: true }),
    block("d", "", { type: "divider" }),
    block("p", "", { type: "image", picture: HASH, width: 300, height: 100, alt: "A mast" }),
  ]);
  const texts = textsOf(card("doc"), showing(view({ blocks })));
  for (const said of ["Minutes", "Agenda", "1.", "2.", "Second", "•", "Done", "A mast"]) {
    expect(texts).toContain(said);
  }
  expect(blocks.map(({ sign }) => sign)).toEqual(["", "1.", "1.", "2.", "•", "", "", ""]);
  const [drawn] = marks(card("doc"), showing(view({ blocks }))).filter(
    ({ kind }) => kind === "picture",
  );
  expect(drawn).toMatchObject({ picture: `doc/${HASH}` });
  expect(drawnPictureUrl("place", `doc/${HASH}`)).toBe(`/api/v1/documents/doc/pictures/${HASH}`);
  expect(drawnPictureUrl("place", HASH)).toBe(`/api/v1/places/place/pictures/${HASH}`);
});

test("what nobody may read is not named, and a card without a document says so", () => {
  const refused = view({
    state: "forbidden",
    title: "",
    blocks: [],
    notice: "You may not read it.",
    summary: "",
  });
  expect(textsOf(card("doc"), showing(refused))).toEqual(["Document card", "You may not read it."]);
  expect(nameOf(card("doc"), showing(refused))).toBe("Document card");
  expect(nameOf(card("doc"), showing(view()))).toBe("Document card “Minutes”");
  const none = withProps(card("doc"), { document: "" });
  expect(textsOf(none, showing(view()))).toContain("no document chosen yet");
  expect(stateOf(none, new Map(), showing(view()))).toBe("no document chosen yet");
  expect(stateOf(card("doc"), new Map(), showing(view()))).toBe("“All were there.”, 1 block");
});

test("cards of every size and with every text are drawn, and nothing goes over the edge", () => {
  const long = "word ".repeat(400);
  const kinds = ["paragraph", "heading", "bullet", "numbered", "todo", "quote", "code", "table"];
  const all = kinds.map((type, at) => block(String(at), long, { type, level: 9, depth: 8 }));
  const shown = view({ title: long, blocks: blocksOf("doc", all) });
  for (const [width, height] of [
    [0, 0],
    [1, 9_999],
    [9_999, 1],
    [90, 110],
    [320, 400],
  ] as const) {
    const thing = { ...card("doc"), width: units(width), height: units(height) };
    const drawn = marks(thing, showing(shown));
    expect(JSON.stringify(drawn)).not.toMatch(/NaN|Infinity/);
    for (const mark of drawn) {
      if (mark.kind !== "text" || height < 100) continue;
      expect(mark.y + (mark.lines.length - 1) * mark.size * 1.3).toBeLessThanOrEqual(height / 2);
    }
  }
});

test("a table is drawn by its cells, and a block keeps its drawing as long as it is the same", () => {
  const table = block("t", "", { type: "table" });
  const grid = {
    ...table,
    content: [["\ufffc", { embed: "cell-V" }], "One", ["\ufffc", { embed: "row-r" }]],
  };
  const [first] = blocksOf("doc", [grid as ShownBlock]);
  expect(first?.rows).toEqual([["One"]]);
  const [again] = blocksOf("doc", [grid as ShownBlock]);
  expect(again).toBe(first);
});

test("a press on the button reads it, for readers a press anywhere; two acts are offered", () => {
  const thing = card("doc", 100, 100);
  expect(deedAt(thing, thing, actor(true))).toBeNull();
  expect(deedAt(thing, thing, actor(false))?.action).toBe("read");
  const corner = {
    x: thing.x + thing.width / 2 - units(20),
    y: thing.y - thing.height / 2 + units(20),
  };
  expect(deedAt(thing, corner, actor(true))?.action).toBe("read");
  const [read, open] = deedsOf(thing, actor(true));
  expect([read?.hindrance, open?.to]).toEqual(["", "/doc/doc"]);
  const [none] = deedsOf(withProps(thing, { document: "../x" }), actor(true));
  expect(none?.hindrance).not.toBe("");
});

test("only documents of this server become cards", () => {
  const here = "https://board.example";
  expect(documentIn(`${here}/doc/a-1`, here)).toBe("a-1");
  expect(documentIn(`${here}/doc/a-1/`, here)).toBe("a-1");
  for (const other of [
    "https://x.example/doc/a",
    `${here}/p/a`,
    `${here}/doc/a/b`,
    "doc/a",
    "javascript:1",
  ]) {
    expect(documentIn(other, here), other).toBeNull();
  }
  expect(documentOf(withProps(card("x"), { document: "a/b" }))).toBeNull();
  expect(documentOf({ ...card("x"), kind: "sticky" })).toBeNull();
});

test("the nearest cards that can be read come first, each document once", () => {
  const camera = new Camera(0, 0, 1, 1_000, 800);
  const all = [
    card("far", 3_000, 0),
    card("near", 500, 400),
    card("twice", 700, 400),
    card("twice", 900, 400),
  ];
  expect(wantedOn(camera, all).map(({ document }) => document)).toEqual(["near", "twice", "far"]);
  expect(wantedOn(camera, all)[0]?.isLarge).toBe(true);
  expect(wantedOn(camera.zoomed(0.2), all)[0]?.isLarge).toBe(false);
  expect(wantedNear([{ ...card("x"), kind: "frame" }], { x: 0, y: 0 })).toEqual([]);
});

class Ward {
  readonly open: string[] = [];
  readonly heard = new Map<string, () => void>();
  readonly states = new Map<string, Partial<CardView> & { isDone?: boolean; isOver?: boolean }>();
  readonly trash = new Set<string>();
  private due: (() => void)[] = [];
  readonly desk = new CardDesk({
    open: (document, changed) => {
      this.open.push(document);
      this.heard.set(document, changed);
      return this.reader(document);
    },
    isTrashed: async (document) => this.trash.has(document),
    after: (delay_ms, act) => {
      if (delay_ms < 1_000) this.due.push(act);
      return () => undefined;
    },
    changed: () => {
      this.said += 1;
    },
  });
  said = 0;

  private reader(document: string): Reader {
    const now = () => this.states.get(document) ?? {};
    const close = () => this.open.splice(this.open.indexOf(document), 1);
    return {
      get view() {
        return view({ title: document, ...now() });
      },
      get isDone() {
        return now().isDone ?? true;
      },
      get isOver() {
        return now().isOver ?? false;
      },
      look: () => undefined,
      trashed: (isTrashed) =>
        isTrashed && this.states.set(document, { state: "trashed", blocks: [] }),
      close,
    };
  }

  look(...documents: string[]): void {
    this.desk.look(
      documents.map((document) => ({ document, isLarge: !document.startsWith("small") })),
    );
    this.settle();
  }

  settle(): void {
    for (const act of this.due.splice(0)) act();
  }
}

const MANY = Array.from({ length: 20 }, (_, at) => `d${at}`);

test("at most eight documents are live, and two more are opened for one look", () => {
  const ward = new Ward();
  ward.look(...MANY);
  expect(ward.open).toEqual(MANY.slice(0, LIVE_MAX + GLANCES_MAX));
  expect(ward.desk.view("d0")?.state).toBe("live");
  // Each look is one: then the next ones have theirs.
  for (let turn = 0; turn < 12; turn++) {
    for (const document of [...ward.open]) ward.heard.get(document)?.();
    ward.settle();
  }
  expect(ward.open).toEqual(MANY.slice(0, LIVE_MAX));
  for (const document of MANY) {
    expect(ward.desk.view(document)?.state).toBe(
      MANY.indexOf(document) < LIVE_MAX ? "live" : "still",
    );
  }
  ward.look();
  expect(ward.open).toEqual([]);
  expect(ward.desk.view("d0")?.blocks.length).toBe(1);
});

test("going by opens and closes nothing: what is live stays so while it is little further", () => {
  const ward = new Ward();
  const near = MANY.slice(0, LIVE_MAX);
  ward.look(...near);
  const before = [...ward.open];
  ward.look("d1", "d0", ...near.slice(2));
  ward.look("new", ...near);
  expect(ward.open).toContain("new");
  expect(ward.open.filter((one) => before.includes(one)).length).toBe(LIVE_MAX - 1);
  ward.look("small1");
  expect(ward.desk.view("small1")?.title).toBe("small1");
});

test("a desk at rest says nothing, whoever looks again and again", () => {
  const ward = new Ward();
  ward.look("a", "b");
  ward.settle();
  const { said } = ward;
  for (let turn = 0; turn < 5; turn++) ward.look("a", "b");
  expect(ward.said).toBe(said);
  ward.look("a");
  expect(ward.said).toBe(said + 1);
});

test("a refused document is told once, and its drawing before is not shown any more", async () => {
  const ward = new Ward();
  ward.look("a");
  ward.states.set("a", { state: "forbidden", title: "", blocks: [], isOver: true, isDone: true });
  ward.heard.get("a")?.();
  ward.settle();
  expect(ward.open).toEqual([]);
  expect(ward.desk.view("a")).toMatchObject({ state: "forbidden", title: "", blocks: [] });
  ward.look("a");
  expect(ward.open).toEqual([]);
  ward.trash.add("b");
  ward.look("b");
  await Promise.resolve();
  await Promise.resolve();
  expect(ward.desk.view("b")?.state).toBe("trashed");
  ward.desk.close();
  expect(ward.desk.count).toBe(0);
});

test("exports have the name, the text and the link of a card; copies have the reference alone", () => {
  Object.assign(globalThis, { location: { origin: "https://board.example" } });
  const thing = card("doc");
  const all = new Map([[thing.id, thing]]);
  const now = showing(view());
  const svg = svgOf([thing], all, PAPER, measure, new Map(), now);
  expect(svg).toContain('<a href="https://board.example/doc/doc">');
  expect(svg).toContain("All were there.");
  const { elements } = JSON.parse(excalidrawOf([thing], all, new Map(), now));
  expect(elements[0].link).toBe("https://board.example/doc/doc");
  expect(elements[1].text).toBe("Document card “Minutes”\nhttps://board.example/doc/doc");
  const [back] = thingsIn(jsonOf([thing], "p"));
  expect(documentOf(back as Thing)).toBe("doc");
  const given = new Map<string, string>();
  const data = {
    files: [],
    getData: (type: string) => given.get(type) ?? "",
    setData: (type: string, text: string) => given.set(type, text),
  } as unknown as DataTransfer;
  copyTo(data, [thing], "p", now);
  expect(given.get("text/plain")).toBe("Minutes https://board.example/doc/doc");
  expect([...given.values()][0]).not.toContain("Minutes");
  given.clear();
  given.set("text/plain", " https://board.example/doc/other\n");
  expect(pastedFrom(data, { x: 0, y: 0 }, 1).things.map(documentOf)).toEqual(["other"]);
  const pictured = view({
    blocks: blocksOf("doc", [block("p", "", { type: "image", picture: HASH })]),
  });
  expect([...picturesDrawn([thing], showing(pictured))]).toEqual([`doc/${HASH}`]);
  Reflect.deleteProperty(globalThis, "location");
});

test("documents are found by all words of what is looked for", () => {
  const all = ["Plan of June", "June", "Plan"].map((title, at) => ({ id: String(at), title }));
  expect(named(all, "june PLAN").map(({ id }) => id)).toEqual(["0"]);
  expect(named(all, " ").length).toBe(3);
});

test("an opened document lies over its card, in the window, and takes all of a small one", () => {
  const camera = new Camera(0, 0, 1, 1_280, 720);
  for (const [x, y] of [
    [0, 0],
    [1_280, 720],
    [640, 300],
  ] as const) {
    const frame = frameOf(card("x", x, y), camera, 56);
    expect(frame?.left).toBeGreaterThanOrEqual(12);
    expect((frame?.left ?? 0) + (frame?.width ?? 0)).toBeLessThanOrEqual(1_268);
    expect((frame?.top ?? 0) + (frame?.height ?? 0)).toBeLessThanOrEqual(56 + 708);
  }
  expect(frameOf(card("x"), new Camera(0, 0, 1, 390, 700), 56)).toBeNull();
});

test("what is on its way is saved before an opened document is closed; not for ever", () => {
  const ends: string[] = [];
  const save = { kind: "saving" as "saving" | "saved", edits: 1, places: 1 };
  const paper = {
    get state() {
      return { problem: null, save: { ...save } };
    },
    hide: () => ends.push("kept") > 99,
    close: () => ends.push("closed"),
  } as unknown as Parting;
  const due: (() => void)[] = [];
  const after = (_delay_ms: number, act: () => void) => due.push(act);
  finished(paper, after);
  expect(ends).not.toContain("closed");
  save.kind = "saved";
  for (const act of due.splice(0)) act();
  expect(ends.at(-1)).toBe("closed");
  save.kind = "saving";
  finished(paper, after, 100);
  for (let turn = 0; turn < 3; turn++) for (const act of due.splice(0)) act();
  expect(ends.filter((end) => end === "closed").length).toBe(2);
});
