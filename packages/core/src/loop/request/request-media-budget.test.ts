import { describe, expect, test } from "vitest";
import { leftOut, type MediaWeight } from "./request-media-budget.ts";
import type { MediaLimits } from "./request-media-form.ts";

const LIMITS = { total: 100, count: 10, crowd: { few: 4, edge: 2000 } } as MediaLimits;
const media = (count: number, size: number, edge = 0): MediaWeight[] =>
  Array.from({ length: count }, () => ({ size, edge }));

describe("media that a request has no room for", () => {
  test.each<[string, MediaWeight[], number]>([
    ["none where all fit", media(10, 10), 0],
    ["the oldest where the bytes are too many, down to half of the room", media(6, 20), 4],
    ["the oldest where there are too many of them", media(11, 1), 6],
    ["more of them where a picture is large", [...media(4, 1), { size: 1, edge: 3000 }], 3],
    ["never the newest", media(3, 90), 2],
  ])("%s", (_name, list, expected) => expect(leftOut(list, LIMITS)).toBe(expected));

  test("change seldom while more come", () => {
    const counts = Array.from({ length: 200 }, (_, index) => leftOut(media(index + 1, 7), LIMITS));
    const changes = counts.filter((count, index) => count !== (counts[index - 1] ?? 0)).length;
    expect(changes).toBeLessThan(200 / 5);
    for (const [index, count] of counts.entries()) {
      expect(count).toBeGreaterThanOrEqual(counts[index - 1] ?? 0);
      expect(index + 1 - count).toBeLessThanOrEqual(10);
      expect((index + 1 - count) * 7).toBeLessThanOrEqual(100);
    }
  });
});
