import { describe, expect, it } from "vitest";
import { tableLines } from "./table.ts";

describe("tables", () => {
  it("align texts on the left and numbers on the right, by characters", () => {
    const columns = [{ heading: "NAME" }, { heading: "N", isNumber: true }, { heading: "WHAT" }];
    expect(
      tableLines(columns, [
        ["a", "1", "x"],
        ["👩👩👩👩👩", "100", ""],
      ]),
    ).toEqual(["NAME     N  WHAT", "a        1  x", "👩👩👩👩👩  100"]);
  });

  it("of no rows are their headings", () => {
    expect(tableLines([{ heading: "A" }], [])).toEqual(["A"]);
  });
});
