import { describe, expect, it } from "vitest";
import { applyGrepMaxCount } from "./grep-cap.ts";

const matches = [1, 2, 3].map((line) => ({ path: "/a", line, text: "x" }));

describe("applyGrepMaxCount", () => {
  it("cuts the matches and says that there are more", () => {
    expect(applyGrepMaxCount({ result: { matches }, maxCount: 2 })).toEqual({
      matches: matches.slice(0, 2),
      truncated: true,
    });
  });

  it.each([3, 4, null, undefined])("leaves three matches as they are for %s", (maxCount) => {
    const result = { matches };
    expect(applyGrepMaxCount({ result, maxCount })).toBe(result);
  });

  it("leaves an error as it is", () => {
    const result = { error: "no", code: "UNAVAILABLE" } as const;
    expect(applyGrepMaxCount({ result, maxCount: 1 })).toBe(result);
  });

  it("keeps what was skipped", () => {
    const skipped = [{ path: "/big", code: "TOO_LARGE" as const }];
    expect(applyGrepMaxCount({ result: { matches, skipped }, maxCount: 1 })).toMatchObject({
      skipped,
      truncated: true,
    });
  });
});
