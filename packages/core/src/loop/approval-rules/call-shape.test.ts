import { describe, expect, test } from "vitest";
import { callShape, withCanonicalPaths, withPathArguments } from "./call-shape.ts";

const shape = (name: string, args: Record<string, unknown>, path: readonly string[] = [], tool?: unknown) =>
  callShape(path, { name, args }, tool).id;

describe("two calls are the same", () => {
  test("whatever the order of the keys, at any depth", () => {
    const one = shape("pay", { a: 1, b: { c: [1, { d: 2, e: 3 }], f: null } });
    expect(shape("pay", { b: { f: null, c: [1, { e: 3, d: 2 }] }, a: 1 })).toBe(one);
  });

  test.each<[string, string]>([
    ["another tool", shape("mail", { command: "ls" })],
    ["another value", shape("execute", { command: "ls " })],
    ["a value of another kind", shape("execute", { command: ["ls"] })],
    ["one argument more", shape("execute", { command: "ls", timeout: 1 })],
    ["another agent", shape("execute", { command: "ls" }, ["helper"])],
    ["a name that looks like the seam", shape('execute"]{', { command: "ls" })],
    ["a key that is a prototype", shape("execute", JSON.parse('{"command":"ls","__proto__":{"x":1}}'))],
  ])("but not with %s", (_, other) => {
    expect(other).not.toBe(shape("execute", { command: "ls" }));
  });

  test("the order of a list matters", () => {
    expect(shape("pay", { to: ["a", "b"] })).not.toBe(shape("pay", { to: ["b", "a"] }));
  });
});

describe("paths", () => {
  const tool = withPathArguments({ name: "read_file" }, ["file_path"]);

  test.each(["/notes/./a.md", "//notes//a.md", "/notes/a.md/"])(
    "%s is the one path it means, for a tool that says it is a path",
    (file_path) => {
      expect(withCanonicalPaths(tool, { file_path })).toEqual({ file_path: "/notes/a.md" });
      expect(shape("read_file", { file_path }, [], tool)).toBe(
        shape("read_file", { file_path: "/notes/a.md" }, [], tool),
      );
    },
  );

  test.each([
    ["relative", { file_path: "./a.md" }],
    ["climbing", { file_path: "/x/../etc" }],
    ["no text", { file_path: 5 }],
    ["of another argument", { text: "/a/../b" }],
  ])("one that is %s stays as it is", (_, args) => {
    expect(withCanonicalPaths(tool, args)).toEqual(args);
  });

  test("other tools have none", () => {
    expect(withCanonicalPaths({ name: "mine" }, { file_path: "/a/../b" })).toEqual({ file_path: "/a/../b" });
    expect(withCanonicalPaths(undefined, { path: "/a/../b" })).toEqual({ path: "/a/../b" });
  });
});
