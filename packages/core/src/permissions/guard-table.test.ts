import { describe, expect, it } from "vitest";
import { readRawFile } from "../backends/adapt/raw-file.ts";
import { BACKENDS, CALLS, FILES, guarded, rule, type Verdict, verdictOf } from "./backends-for-tests.ts";
import type { FilesystemOperation, FilesystemPermission } from "./rules.ts";

type Expected = Readonly<Record<string, readonly [read: Verdict, write: Verdict]>>;

const A = "allow";
const D = "deny";
const Q = "ask";

/** Decisions of each list of rules about each file, written by hand. */
const TABLE: readonly {
  readonly name: string;
  readonly rules: readonly FilesystemPermission[];
  readonly files: Expected;
}[] = [
  {
    name: "read only",
    rules: [rule("deny", "/**", ["write"])],
    files: { "/notes.md": [A, D], "/workspace/sub/b.txt": [A, D], "/new.txt": [A, D] },
  },
  {
    name: "the workspace alone",
    rules: [rule("allow", "/workspace/**"), rule("deny", "/**")],
    files: {
      "/workspace/a.txt": [A, A],
      "/workspace/.env": [A, A],
      "/workspace/new.txt": [A, A],
      "/notes.md": [D, D],
      "/secrets/key.txt": [D, D],
      "/nothing/there": [D, D],
    },
  },
  {
    name: "the workspace without its secrets",
    rules: [rule("deny", "/workspace/.env"), rule("allow", "/workspace/**"), rule("deny", "/**")],
    files: { "/workspace/.env": [D, D], "/workspace/a.txt": [A, A], "/notes.md": [D, D] },
  },
  {
    name: "memory that is read only",
    rules: [rule("deny", ["/memories/**", "/policies/**"], ["write"])],
    files: { "/memories/AGENTS.md": [A, D], "/policies/p.md": [A, D], "/notes.md": [A, A] },
  },
  {
    name: "the auditor",
    rules: [
      rule("deny", "/**", ["write"]),
      rule("allow", "/workspace/**", ["read"]),
      rule("deny", "/**", ["read"]),
    ],
    files: { "/workspace/a.txt": [A, D], "/workspace/.env": [A, D], "/notes.md": [D, D] },
  },
  {
    name: "an exception before the rule",
    rules: [rule("allow", "/secrets/pub/**"), rule("deny", "/secrets/**")],
    files: { "/secrets/pub/readme.md": [A, A], "/secrets/key.txt": [D, D], "/secretsX/a": [A, A] },
  },
  {
    name: "an exception behind the rule",
    rules: [rule("deny", "/secrets/**"), rule("allow", "/secrets/pub/**")],
    files: { "/secrets/pub/readme.md": [D, D], "/secrets/key.txt": [D, D] },
  },
  {
    name: "names at any depth",
    rules: [rule("deny", ["/**/.env", "/**/*.{key,txt}"])],
    files: { "/workspace/.env": [D, D], "/workspace/sub/b.txt": [D, D], "/notes.md": [A, A] },
  },
  {
    name: "a person is asked",
    rules: [rule("interrupt", "/secrets/**"), rule("interrupt", "/notes.md", ["write"])],
    files: { "/secrets/key.txt": [Q, Q], "/notes.md": [A, Q], "/workspace/a.txt": [A, A] },
  },
  {
    name: "asked in part, denied in part",
    rules: [
      rule("deny", "/secrets/key.txt"),
      rule("interrupt", "/secrets/**", ["write"]),
      rule("allow", "/**", ["write"]),
    ],
    files: { "/secrets/key.txt": [D, D], "/secrets/pub/readme.md": [A, Q], "/notes.md": [A, A] },
  },
  {
    name: "write without reading",
    rules: [rule("deny", "/memories/**", ["read"])],
    files: { "/memories/AGENTS.md": [D, A], "/policies/p.md": [A, A] },
  },
  { name: "no rule at all", rules: [], files: { "/secrets/key.txt": [A, A] } },
];

const TRANSFERS: ReadonlySet<string> = new Set(["upload", "download"]);

/** Rows of one list: every road to every file. */
function rowsOf(files: Expected): readonly [road: string, operation: FilesystemOperation, path: string][] {
  return Object.keys(files).flatMap((path) =>
    (["read", "write"] as const).flatMap((operation) =>
      Object.keys(CALLS[operation]).map(
        (road) => [road, operation, path] as [string, FilesystemOperation, string],
      ),
    ),
  );
}

describe.each(Object.keys(BACKENDS))("on %s", (place) => {
  it.each(TABLE)("every road to a file has the same answer: $name", async ({ rules, files }) => {
    const inner = (BACKENDS[place] as (typeof BACKENDS)[string])();
    const backend = guarded(inner, rules);
    const kept = Object.entries(files).filter(([path, [, write]]) => write !== A && path in FILES);
    const actual: Record<string, Verdict> = {};
    const expected: Record<string, Verdict> = {};
    for (const [road, operation, path] of rowsOf(files)) {
      const result = await (CALLS[operation][road] as (typeof CALLS)["read"][string])(backend, path);
      actual[`${road} ${path}`] = verdictOf(result);
      const verdict = (files[path] as Expected[string])[operation === "read" ? 0 : 1];
      // A transfer has no word for a person who could be asked.
      expected[`${road} ${path}`] = verdict === Q && TRANSFERS.has(road) ? D : verdict;
    }
    expect(actual).toEqual(expected);
    for (const [path] of kept)
      expect(await readRawFile(inner, path)).toMatchObject({
        data: { content: FILES[path as keyof typeof FILES] },
      });
  });
});

it("the table has at least two hundred rows, on each of four places", () => {
  expect(TABLE.reduce((sum, { files }) => sum + rowsOf(files).length, 0)).toBeGreaterThanOrEqual(200);
  expect(Object.keys(BACKENDS)).toHaveLength(4);
});

it("what is allowed is done, and what is refused says so in the agreed words", async () => {
  const backend = guarded((BACKENDS.map as () => never)(), [rule("deny", "/notes.md", ["write"])]);
  expect(await backend.read("/notes.md")).toMatchObject({ content: FILES["/notes.md"] });
  expect(await backend.write("/x", "1")).toMatchObject({ path: "/x" });
  expect(await backend.write("/./notes.md", "1", { overwrite: true })).toEqual({
    error: "Error: permission denied for write on /notes.md",
    code: "PERMISSION_DENIED",
  });
});
