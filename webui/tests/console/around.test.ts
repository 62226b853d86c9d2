import { describe, expect, it } from "vitest";
import { aroundOf, type Delivered, isBack, missingOf } from "../../src/console/around";

const row = (first: number, last = first): Delivered => ({
  at_s: 0,
  dno: first,
  first,
  last,
  what: "messages",
  message: `a#1/1:${first}-${last}`,
  sequencer: "a#1",
  isMarked: false,
});

describe("what a node has not delivered", () => {
  it("is what lies between its rows, in whatever order they came", () => {
    expect(missingOf([row(4), row(5, 7), row(10), row(12)])).toEqual([
      [8, 9],
      [11, 11],
    ]);
    expect(missingOf([row(12), row(4), row(10), row(5, 7)])).toEqual([
      [8, 9],
      [11, 11],
    ]);
  });

  it("is nothing before its first row and behind its last one", () => {
    expect(missingOf([])).toEqual([]);
    expect(missingOf([row(7), row(8)])).toEqual([]);
  });

  it("is nothing where numbers came twice", () => {
    expect(missingOf([row(4, 9), row(5), row(10)])).toEqual([]);
  });
});

it("comes back where a number is not above all before it", () => {
  const rows = [row(4), row(6), row(5), row(6), row(7)];
  expect(rows.map((_, at) => isBack(rows, at))).toEqual([false, false, true, true, false]);
});

describe("an answer", () => {
  it("of a node that knows nothing of it has none", () => {
    expect(aroundOf(undefined)).toEqual([]);
    expect(aroundOf([])).toEqual([]);
  });

  it("has its rows by node; what came out of an archive has no sequencer", () => {
    const said = {
      gid: 7,
      group: "Minutes",
      seq: 412,
      first: 407,
      last: 417,
      nodes: [
        {
          node: "b#1",
          rows: [
            {
              at_s: 5.25,
              dno: 9,
              first: 410,
              last: 412,
              what: "join",
              message: "a#1/3",
              sequencer: null,
              marked: true,
            },
          ],
        },
      ],
      more_nodes: 3,
    };
    const [found] = aroundOf([said]);
    expect(found).toMatchObject({ gid: 7, position: 412, moreNodes: 3 });
    expect(found?.nodes[0]?.rows[0]).toMatchObject({ sequencer: "", isMarked: true, dno: 9 });
  });
});
