import { describe, expect, it } from "vitest";
import { z } from "zod";
import { lenientObject } from "./lenient-object.ts";

const schema = lenientObject(
  {
    file_path: z.string(),
    offset: z.number().optional(),
    all: z.boolean().optional(),
    items: z.array(z.number()).optional(),
  },
  { aliases: { path: "file_path" }, numbers: ["offset"], booleans: ["all"], json: ["items"] },
);

describe("lenientObject", () => {
  it.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ path: "/a" }, { file_path: "/a" }],
    [{ file_path: "/a", path: "/b" }, { file_path: "/a" }],
    [{ file_path: null, path: "/b" }, { file_path: "/b" }],
    [
      { file_path: "/a", offset: "10" },
      { file_path: "/a", offset: 10 },
    ],
    [
      { file_path: "/a", offset: " 1.5 " },
      { file_path: "/a", offset: 1.5 },
    ],
    [{ file_path: "/a", offset: "", all: "", items: null }, { file_path: "/a" }],
    [
      { file_path: "/a", all: "True" },
      { file_path: "/a", all: true },
    ],
    [
      { file_path: "/a", all: "false" },
      { file_path: "/a", all: false },
    ],
    [
      { file_path: "/a", items: "[1, 2]" },
      { file_path: "/a", items: [1, 2] },
    ],
    [{ file_path: "/a", surprise: 1 }, { file_path: "/a" }],
    [{ file_path: "" }, { file_path: "" }],
  ])("reads %j as %j", (given, expected) => expect(schema.parse(given)).toEqual(expected));

  it.each([
    [{}],
    [{ file_path: "/a", offset: "ten" }],
    [{ file_path: "/a", all: "maybe" }],
    [{ file_path: "/a", items: "[1" }],
    ["/a"],
    [null],
  ])("still refuses %j", (given) => expect(schema.safeParse(given).success).toBe(false));

  it("leaves what it was given alone", () => {
    const given = { path: "/a", offset: "3" };
    schema.parse(given);
    expect(given).toEqual({ path: "/a", offset: "3" });
  });
});
