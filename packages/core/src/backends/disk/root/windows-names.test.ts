import { expect, it } from "vitest";
import { ambiguousOnWindows } from "./windows-names.ts";

it.each([
  ["/f.txt:ads", "f.txt:ads"],
  ["/f.txt::$DATA", "f.txt::$DATA"],
  ["/GIT~1/config", "GIT~1"],
  ["/con", "con"],
  ["/a/NUL.txt", "NUL.txt"],
  ["/a/com1", "com1"],
  ["/what?", "what?"],
])("FS-10 on Windows %s names something else", (path, name) => {
  expect(ambiguousOnWindows(path)).toBe(name);
});

it.each(["/", "/a/b.txt", "/console", "/icon", "/~/x", "/a~b", "/[...slug].ts"])(
  "%s is a name like any",
  (path) => {
    expect(ambiguousOnWindows(path)).toBeUndefined();
  },
);
