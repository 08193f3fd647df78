import { expect, test } from "vitest";
import { LineReader } from "./thread-file.ts";

test.each(["constructor", "toString", "__proto__", "dream"])("a line of the kind %s is refused", (type) => {
  expect(() => new LineReader().body(JSON.stringify({ type }))).toThrow(
    expect.objectContaining({ code: "INVALID_INPUT", message: expect.stringContaining("does not know") }),
  );
});
