import { describe, expect, test } from "vitest";
import { Decoder } from "./decode.ts";
import { KIND } from "./handle.ts";

function decoder(
  ...objects: [id: number, kind: number, refs: number[], body: string | Uint8Array][]
): Decoder {
  const made = new Decoder();
  made.add(objects.map(([id, kind, refs, body]) => ({ id, kind, refs, body })));
  return made;
}

/** Kinds are stored: each means for ever what it means here. */
describe("stored objects", () => {
  test.each<[string, Parameters<typeof decoder>, unknown]>([
    [
      "1 is a value",
      [
        [9, 1, [1], '{"a":{"$":0}}'],
        [1, 2, [], "text"],
      ],
      { a: "text" },
    ],
    ["2 is a text", [[9, 2, [], "text"]], "text"],
    ["3 is a text in UTF-16", [[9, 3, [], Buffer.from("\ud800!", "utf16le")]], "\ud800!"],
    ["4 is bytes", [[9, 4, [], Uint8Array.of(1, 2)]], Uint8Array.of(1, 2)],
    [
      "5 is a text of several",
      [
        [9, 5, [1, 2, 1], ""],
        [1, 2, [], "a"],
        [2, 2, [], "b"],
      ],
      "aba",
    ],
    [
      "6 is a text in UTF-16 of several",
      [
        [9, 6, [1, 2], ""],
        [1, 3, [], Uint8Array.of(0x00)],
        [2, 3, [], Uint8Array.of(0xd8)],
      ],
      "\ud800",
    ],
    [
      "7 is bytes of several",
      [
        [9, 7, [1, 1], ""],
        [1, 4, [], Uint8Array.of(1)],
      ],
      Uint8Array.of(1, 1),
    ],
    [
      "8 is a list of references",
      [
        [9, 8, [1, 1], ""],
        [1, 1, [], "[1]"],
      ],
      [[1], [1]],
    ],
    [
      "8 is a list of values",
      [
        [9, 8, [1], '[5,{"$":0},{"$":["u"]}]'],
        [1, 2, [], "t"],
      ],
      [5, "t", undefined],
    ],
    [
      "9 is a list of lists",
      [
        [9, 9, [1, 2], ""],
        [1, 8, [], "[1,2]"],
        [2, 9, [1], ""],
      ],
      [1, 2, 1, 2],
    ],
    [
      "10 is a map of references",
      [
        [9, 10, [1], '["a"]'],
        [1, 2, [], "t"],
      ],
      { a: "t" },
    ],
    [
      "10 is a map of values",
      [
        [9, 10, [1], '[["a","b"],[1,{"$":0}]]'],
        [1, 2, [], "t"],
      ],
      { a: 1, b: "t" },
    ],
    ["10 is an empty map", [[9, 10, [], "[]"]], {}],
    [
      "11 is a map of maps",
      [
        [9, 11, [1, 2], ""],
        [1, 10, [], '[["a"],[1]]'],
        [2, 10, [], '[["b"],[2]]'],
      ],
      { a: 1, b: 2 },
    ],
  ])("of kind %s", (_, objects, expected) => {
    expect(decoder(...objects).value(9)).toEqual(expected);
  });

  test("the numbers of the kinds are those that are stored", () => {
    expect(Object.values(KIND)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  test.each<[string, Parameters<typeof decoder>]>([
    ["an object that is missing", []],
    ["a missing object within", [[9, 8, [1], ""]]],
    ["a missing piece", [[9, 5, [1], ""]]],
    ["a reference out of range", [[9, 1, [], '{"a":{"$":3}}']]],
    ["a kind nobody knows", [[9, 99, [], ""]]],
    ["a body that is no JSON", [[9, 1, [], '{"a":']]],
    ["a map that is no JSON", [[9, 10, [], "x"]]],
    ["a list that is none", [[9, 8, [], "5"]]],
  ])("%s is an error that says so", (_, objects) => {
    expect(() => decoder(...objects).value(9)).toThrow(expect.objectContaining({ code: "STORAGE_CORRUPT" }));
  });

  test("a key __proto__ of a map is one like any other", () => {
    const map = decoder([9, 10, [], '[["__proto__"],[{"x":1}]]']).value(9) as object;
    expect(Object.keys(map)).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(map)).toBe(Object.prototype);
  });

  test("each read builds new values", () => {
    const made = decoder(
      [9, 1, [1, 1], '[{"$":0},{"$":1}]'],
      [1, 1, [], '{"a":[1]}'],
      [2, 4, [], Uint8Array.of(1)],
    );
    const [first, second] = made.value(9) as any[];
    expect(first).not.toBe(second);
    expect(made.value(2)).not.toBe(made.value(2));
  });
});
