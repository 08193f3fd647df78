import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CutGoal, chooseCut, type Piece, waterLevel } from "./cut.ts";

const piece = (kind: Piece["kind"], tokens = 10): Piece => ({ kind, tokens });
const [human, ai, tool, note] = [piece("human"), piece("ai"), piece("tool"), piece("note")];
const goal = (changes: Partial<CutGoal> = {}): CutGoal => ({
  keepTokens: 20,
  keepMessages: Infinity,
  reach: 0,
  room: 1000,
  ...changes,
});

describe("chooseCut", () => {
  it.each<[string, Piece[], Partial<CutGoal>, number]>([
    ["keeps all that may stay", [human, ai], { keepTokens: 100 }, 0],
    ["keeps whole turns only", [human, ai, tool, tool, ai, tool], { keepTokens: 30 }, 4],
    ["keeps the last turn also when it is too long", [human, ai, tool, tool], { keepTokens: 0 }, 1],
    [
      "counts messages where that is asked",
      [human, ai, human, ai],
      { keepTokens: Infinity, keepMessages: 2 },
      2,
    ],
    [
      "does not count notes as messages",
      [human, ai, human, note, ai],
      { keepTokens: Infinity, keepMessages: 2 },
      2,
    ],
    [
      "reaches back to the newest words of a person",
      [human, ai, human, ai, tool, ai, tool],
      { reach: 60 },
      2,
    ],
    [
      "does not reach back to words that are the first: nothing would be removed",
      [human, ai, tool, ai, tool],
      { reach: 1000 },
      3,
    ],
    [
      "does not reach back where that would keep more messages than is asked",
      [human, ai, human, ai, tool, ai, tool],
      { reach: 1000, keepMessages: 4 },
      5,
    ],
    ["does not reach too far", [human, ai, human, ai, tool, ai, tool], { reach: 40 }, 5],
    ["gives up turns that there is no room for", [human, ai, human, ai], { keepTokens: 40, room: 15 }, 3],
    ["never begins with a note", [human, note, ai, tool, note], { keepTokens: 12 }, 2],
    ["has nothing to cut from nothing", [], {}, 0],
  ])("%s", (_name, pieces, changes, expected) => expect(chooseCut(pieces, goal(changes))).toBe(expected));

  it("never parts a call from its results, whatever the sizes", () => {
    const size = fc.integer({ min: 0, max: 5000 });
    const turn = fc
      .tuple(size, fc.array(size, { maxLength: 4 }), fc.boolean())
      .map(([own, results, isHuman]) =>
        isHuman
          ? [piece("human", own)]
          : [piece("ai", own), ...results.map((tokens) => piece("tool", tokens))],
      );
    const goals = fc.record({ keepTokens: size, keepMessages: size, reach: size, room: size });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 30 }), goals, (turns, wanted) => {
        const pieces = turns.flat();
        const cut = chooseCut(pieces, wanted);
        expect(pieces[cut]?.kind).not.toBe("tool");
        const sum = (from: number): number =>
          pieces.slice(from).reduce((total, { tokens }) => total + tokens, 0);
        const last = pieces.findLastIndex(({ kind }) => kind !== "tool");
        expect(cut).toBeLessThanOrEqual(last);
        if (cut < last) expect(sum(cut)).toBeLessThanOrEqual(wanted.room);
      }),
    );
  });
});

describe("waterLevel", () => {
  it.each<[number[], number, number]>([
    [[1, 2, 3], 6, Infinity],
    [[1, 2, 30], 13, 10],
    [[10, 10, 10], 15, 5],
    [[100, 1], 0, 0],
    [[5], -3, 0],
    [[], 0, Infinity],
  ])("of %j in %d is %d", (sizes, room, expected) => expect(waterLevel(sizes, room)).toBe(expected));
});
