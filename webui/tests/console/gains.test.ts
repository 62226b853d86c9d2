import { describe, expect, it } from "vitest";
import { expectedText, gainOf, gainTexts, moveText } from "../../src/console/gains";
import type { Plan } from "../../src/console/moves";

const plan: Plan = {
  id: "a-1-1",
  state: "done",
  began_s: 0,
  ended_s: 1,
  total: 2,
  done: 2,
  failed: 0,
  imbalance: [2, 1.2],
  expects: { imbalance: null, latency_us: null },
  brought: 1.3,
  measured: null,
  problem: "",
};

describe("what a plan has brought", () => {
  it("is the live load's where the pipeline has said nothing", () => {
    expect(gainOf(plan)).toEqual({ imbalance: [2, 1.2, 1.3], latency: [null, null, null] });
    expect(gainTexts(plan)).toEqual([
      "By the load that the nodes report: imbalance from 2 to 1.2.",
      "A minute behind its end the fullest node carried 1.3 times the mean.",
    ]);
  });

  it("is the pipeline's where that has measured", () => {
    const told: Plan = {
      ...plan,
      expects: { imbalance: [3, 1.1], latency_us: [2_040, 1_560] },
      measured: { windows: 1, imbalance: 1.15, latency_us: 1_640 },
    };
    expect(gainOf(told)).toEqual({
      imbalance: [3, 1.1, 1.15],
      latency: [2_040, 1_560, 1_640],
    });
    expect(expectedText(told.expects)).toContain("in 1.6 ms instead of 2 ms");
    expect(gainTexts(told)).toHaveLength(5);
    expect(gainTexts(told)[4]).toContain("1.6 ms");
  });

  it("is not known before it is measured", () => {
    expect(gainOf({ ...plan, brought: null }).imbalance[2]).toBeNull();
    expect(expectedText(plan.expects)).toBe("");
  });
});

describe("a move of a plan", () => {
  const move = { group: 7, name: "prices", from: "a", to: "b" };

  it("says why, in the words of migrations", () => {
    expect(moveText({ ...move, why: "drain" })).toBe("prices: from a to b, as the node is drained");
  });

  it("says nothing where its maker does not", () => {
    expect(moveText({ ...move, why: "" })).toBe("prices: from a to b");
  });
});
