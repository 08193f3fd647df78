import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Handle, KIND } from "./handle.ts";
import { BRANCH_OF, joinLeaves, keyGroups } from "./trees.ts";

const PATTERNS: Readonly<Record<string, (i: number) => string>> = {
  modules: (i) => `/src/module-${i}/file-${i}.ts`,
  numbered: (i) => `/f-${i}`,
  padded: (i) => `/docs/${String(i).padStart(5, "0")}.md`,
  nested: (i) => `/a${i % 10}/b${i % 100}/index-${i}.js`,
  numbers: (i) => `x${i * 7919}`,
};

const keys = (pattern: (i: number) => string, count = 1_000): string[] =>
  Array.from({ length: count }, (_, i) => pattern(i));

/** Groups of the second that are not among those of the first. */
function fresh(before: readonly string[][], after: readonly string[][]): number {
  const known = new Set(before.map((group) => group.join("\n")));
  return after.filter((group) => !known.has(group.join("\n"))).length;
}

describe("the leaves of a map", () => {
  test.each(Object.entries(PATTERNS))("of keys like %s are neither many nor large", (_, pattern) => {
    const groups = keyGroups(keys(pattern));
    expect(groups.flat()).toEqual(keys(pattern));
    expect(groups.length).toBeGreaterThan(20);
    expect(groups.length).toBeLessThan(120);
    expect(Math.max(...groups.map(({ length }) => length))).toBeLessThanOrEqual(64);
  });

  test.each(Object.entries(PATTERNS))("of keys like %s stay when a key comes or goes", (_, pattern) => {
    const before = keys(pattern);
    const groups = keyGroups(before);
    for (let place = 0; place < 1_000; place += 37) {
      const without = before.filter((__, i) => i !== place);
      expect(fresh(groups, keyGroups(without))).toBeLessThanOrEqual(6);
      const more = [...before.slice(0, place), `/new-${place}`, ...before.slice(place)];
      expect(fresh(groups, keyGroups(more))).toBeLessThanOrEqual(6);
    }
  });

  test("any keys, in their order", () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 300 }), (names) => {
        const groups = keyGroups(names);
        expect(groups.flat()).toEqual(names);
        expect(groups.length).toBeGreaterThan(0);
      }),
    );
  });

  /** Other groups would share nothing with what is stored: these numbers never change. */
  test("are the same in every version", () => {
    expect(keyGroups(keys(PATTERNS.modules!, 300)).map(({ length }) => length)).toMatchInlineSnapshot(`
      [
        29,
        4,
        63,
        27,
        25,
        10,
        9,
        64,
        11,
        25,
        14,
        8,
        11,
      ]
    `);
  });
});

describe("a tree of leaves", () => {
  const leaf = (text: string): Handle => new Handle(KIND.list, [], text);
  const leaves = (count: number): Handle[] => Array.from({ length: count }, (_, i) => leaf(`${i}`));

  test("of one is the leaf", () => {
    const [only] = leaves(1) as [Handle];
    expect(joinLeaves([only], BRANCH_OF.list, undefined).root).toBe(only);
  });

  test("is shallow, and knows each leaf once", () => {
    const tree = joinLeaves(leaves(5_000), BRANCH_OF.list, undefined);
    expect(tree.levels.map(({ length }) => length)).toEqual([5_000, 157, 5, 1]);
  });

  test("takes over what did not change, and is the same tree as one made anew", () => {
    const all = leaves(3_000);
    const before = joinLeaves(all, BRANCH_OF.list, undefined);
    const changed = all.with(1_500, leaf("changed")).concat(leaf("added"));
    const after = joinLeaves(changed, BRANCH_OF.list, before);
    expect(after.root.hash).toBe(joinLeaves(changed, BRANCH_OF.list, undefined).root.hash);
    const known = new Set(before.levels.flat());
    expect(after.levels.flat().filter((node) => !known.has(node)).length).toBeLessThanOrEqual(7);
    const shorter = joinLeaves(all.slice(0, 40), BRANCH_OF.list, after);
    expect(shorter.root.hash).toBe(joinLeaves(all.slice(0, 40), BRANCH_OF.list, undefined).root.hash);
  });
});
