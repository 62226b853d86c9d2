import * as reference from "@msgpack/msgpack";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decode, encode } from "../../src/client/msgpack";

const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.double({ noNaN: true }).map((value) => value + 0),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.uint8Array({ maxLength: 300 }),
);
const name = fc.string({ maxLength: 40 }).filter((text) => text !== "__proto__");
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, tie("list"), tie("map")),
  list: fc.array(tie("value"), { maxLength: 20 }),
  map: fc.dictionary(name, tie("value"), { maxKeys: 20, noNullPrototype: true }),
}));

test("what is written is byte for byte what another implementation writes, and is read again", () => {
  fc.assert(
    fc.property(value, (some) => {
      const bytes = encode(some);
      expect(bytes).toEqual(reference.encode(some));
      expect(decode(bytes)).toEqual(reference.decode(bytes));
    }),
    { numRuns: 300 },
  );
});

test("numbers, texts and lists of every length have the shortest form", () => {
  const ends = [0, 31, 32, 127, 128, 255, 256, 65_535, 65_536].flatMap((end) => [end, -end - 1]);
  const wide = [2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53, -(2 ** 31) - 1];
  const sizes = [15, 16, 31, 32, 255, 256, 65_535, 65_536];
  const long = sizes.flatMap((size) => [
    "ä".repeat(size / 2),
    "a".repeat(size),
    Array(size).fill(1),
    new Uint8Array(size),
    Object.fromEntries(Array.from({ length: Math.min(size, 300) }, (_, at) => [`k${at}`, at])),
  ]);
  for (const some of [...ends, ...wide, ...long, 0.5, Number.NaN, Infinity, -0]) {
    const bytes = encode(some);
    expect(Buffer.from(bytes).equals(reference.encode(some))).toBe(true);
    expect(decode(bytes)).toEqual(reference.decode(bytes));
  }
});

test("a field that is undefined is left out, and a function cannot be sent", () => {
  expect(decode(encode({ a: 1, b: undefined }))).toEqual({ a: 1 });
  expect(() => encode([() => 1])).toThrow(TypeError);
  expect(() => encode(1n)).toThrow(TypeError);
});

test("bytes that are no value are refused, wherever they end", () => {
  const whole = encode([{ t: "opened", name: "x".repeat(300), n: 70_000 }, 0.5, -40_000]);
  for (let end = 0; end < whole.length; end += 1) {
    expect(() => decode(whole.subarray(0, end))).toThrow();
  }
  expect(() => decode(Uint8Array.of(...whole, 0))).toThrow("bytes follow");
  for (const bad of [
    [0xc1], // never used
    [0xd4, 1, 1], // an extension
    [0x81, 1, 1], // a key that is a number
    [0xdd, 255, 255, 255, 255, 1], // a list longer than all
    [0xcf, 255, 255, 255, 255, 255, 255, 255, 255], // more than a number holds exactly
    [...encode(JSON.parse('{"__proto__": 1}'))],
  ]) {
    expect(() => decode(Uint8Array.from(bad)), String(bad)).toThrow();
  }
  expect(() => decode(new Uint8Array(2_000_000).fill(0x91))).toThrow();
});

test("texts keep a byte order mark, and what is read may stand anywhere in a buffer", () => {
  for (const text of ["\ufeffa", `\ufeff${"a".repeat(300)}`]) {
    const bytes = encode(text);
    const moved = new Uint8Array(bytes.length + 3);
    moved.set(bytes, 3);
    expect(decode(moved.subarray(3))).toBe(text);
    expect(decode(bytes.buffer)).toBe(text);
  }
});
