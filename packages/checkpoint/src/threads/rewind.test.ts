import { describe, expect, it } from "vitest";
import { idAfter } from "./rewind.ts";

describe("the id of a new head", () => {
  it.each([
    ["of a clock that is ahead", "ffff1622-ffff-6fff-8000-000000000000"],
    ["of ours", "1f1e1622-8193-6000-8000-000000000000"],
    ["that is no time at all", "zz"],
  ])("sorts after one %s", (_, head) => {
    expect(idAfter(head, 3) > head).toBe(true);
  });
});
