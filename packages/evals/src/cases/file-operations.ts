/** File operations: create, edit and remove files while a model makes the usual mistakes. */
import type { EvalCase, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { call, edit, type Plan, read, say, write } from "../policies/plan.ts";
import {
  fileContains,
  fileEquals,
  fileLacks,
  fileMissing,
  onlyChanged,
} from "../verifiers/file-verifiers.ts";
import { scriptedCase } from "./building.ts";

const CONFIG = "export const config = {\n  port: 3000,\n  host: 'localhost',\n};\n";
const MATH = Array.from(
  { length: 5 },
  (_, index) => `export function f${index}(x) {\n  return x + ${index};\n}\n`,
).join("\n");
const FILES = { "/src/config.ts": CONFIG, "/src/math.js": MATH, "/README.md": "# Demo\n" };
const TASK = "Change the port in the config to 8080.";
const CHANGED = CONFIG.replace("3000", "8080");

/** Edits of the port whose text is not quite that of the file. */
const INEXACT: readonly (readonly [id: string, from: string])[] = [
  ["deeper-indentation", "    port: 3000,\n    host: 'localhost',"],
  ["no-indentation", "port: 3000,\nhost: 'localhost',"],
  ["tabs", "\tport: 3000,\n\thost: 'localhost',"],
  ["trailing-spaces", "  port: 3000, \n  host: 'localhost', "],
  ["line-numbers", "     2│  port: 3000,\n     3│  host: 'localhost',"],
];

const RIGHT = edit(
  "/src/config.ts",
  "  port: 3000,\n  host: 'localhost',",
  "  port: 8080,\n  host: 'localhost',",
);

/** Paths that a model remembers wrongly. */
const WRONG_PATHS: readonly (readonly [id: string, policy: PolicyName, path: string])[] = [
  ["forgotten-folder", "gives-up", "/config.ts"],
  ["typing-mistake", "gives-up", "/src/confg.ts"],
  ["wrong-ending", "hasty", "/src/config.js"],
  ["mistake-in-capitals", "hasty", "/Src/Config.ts"],
];

const doubled = (plan: readonly [number, number][]): Plan => [
  read("/src/math.js"),
  ...plan.map(([index, factor]) =>
    edit("/src/math.js", `return x + ${index};`, `return ${factor} * x + ${index};`),
  ),
  say("Changed."),
];

const doubledFile = (plan: readonly [number, number][]) =>
  plan.reduce((text, [index, factor]) => text.replace(`x + ${index}`, `${factor} * x + ${index}`), MATH);

/** Edits of one file that a model sends in one turn. */
const TOGETHER: readonly (readonly [id: string, edits: readonly [number, number][]])[] = [
  [
    "two-edits-at-once",
    [
      [0, 2],
      [4, 3],
    ],
  ],
  [
    "five-edits-at-once",
    [
      [0, 2],
      [1, 3],
      [2, 4],
      [3, 5],
      [4, 6],
    ],
  ],
];

const others: readonly EvalCase[] = [
  scriptedCase({
    id: "changes-a-port",
    task: TASK,
    files: FILES,
    verify: [fileEquals("/src/config.ts", CHANGED), onlyChanged(FILES, "/src/config.ts")],
    policy: "careful",
    plan: [read("/src/config.ts"), edit("/src/config.ts", "port: 3000", "port: 8080"), say("Changed.")],
  }),
  scriptedCase({
    id: "recovers-from-stale-text",
    task: TASK,
    files: FILES,
    verify: [fileEquals("/src/config.ts", CHANGED)],
    policy: "careful",
    plan: [
      edit("/src/config.ts", "port: 3000", "port: 8080", {
        wrongly: edit("/src/config.ts", "port: 4000", "port: 8080"),
      }),
      say("Changed."),
    ],
  }),
  scriptedCase({
    id: "edits-windows-line-ends",
    task: TASK,
    files: { "/src/config.ts": CONFIG.replaceAll("\n", "\r\n") },
    verify: [fileContains("/src/config.ts", "port: 8080,"), fileLacks("/src/config.ts", /[^\r]\n/)],
    policy: "hasty",
    plan: [RIGHT, say("Changed.")],
  }),
  scriptedCase({
    id: "makes-an-ambiguous-edit-unique",
    task: "Make f3 return x - 3.",
    files: FILES,
    verify: [fileContains("/src/math.js", "return x - 3;"), fileLacks("/src/math.js", "return x - 0;")],
    policy: "careful",
    plan: [
      edit("/src/math.js", "return x + 3;", "return x - 3;", {
        wrongly: edit("/src/math.js", "return x + ", "return x - "),
      }),
      say("Changed."),
    ],
  }),
  ...(["wrong-arguments", "broken-json"] as const).map((policy) =>
    scriptedCase({
      id: `edits-with-${policy}`,
      task: TASK,
      files: FILES,
      verify: [fileEquals("/src/config.ts", CHANGED)],
      policy,
      plan: [read("/src/config.ts"), RIGHT, say("Changed.")],
    }),
  ),
  scriptedCase({
    id: "creates-three-files",
    task: "Create /a.txt, /b.txt and /c.txt with their own names in them.",
    verify: ["a", "b", "c"].map((name) => fileEquals(`/${name}.txt`, name)),
    policy: "careful",
    plan: [write("/a.txt", "a"), write("/b.txt", "b"), write("/c.txt", "c"), say("Created.")],
  }),
  scriptedCase({
    id: "replaces-a-whole-file",
    task: "Replace the content of /README.md with '# Example'.",
    files: FILES,
    verify: [fileEquals("/README.md", "# Example")],
    policy: "gives-up",
    plan: [write("/README.md", "# Example\n"), say("Replaced.")],
  }),
  scriptedCase({
    id: "must-not-replace-a-file",
    task: "Create /src/config.ts with `export {}` unless there is one.",
    files: FILES,
    verify: [fileEquals("/src/config.ts", CONFIG)],
    policy: "ignores-instructions",
    plan: [write("/src/config.ts", "export {};\n"), say("Created.")],
  }),
  scriptedCase({
    id: "removes-a-file",
    task: "Remove /src/math.js.",
    files: FILES,
    verify: [fileMissing("/src/math.js"), onlyChanged(FILES, "/src/math.js")],
    policy: "careful",
    plan: [call("delete", { file_path: "/src/math.js" }), say("Removed.")],
  }),
  scriptedCase({
    id: "edits-two-files-at-once",
    task: "Set the port to 8080 and title the readme Example.",
    files: FILES,
    verify: [fileEquals("/src/config.ts", CHANGED), fileEquals("/README.md", "# Example")],
    policy: "parallel-edits",
    plan: [edit("/src/config.ts", "3000", "8080"), edit("/README.md", "Demo", "Example"), say("Changed.")],
  }),
];

export const fileOperations: Suite = {
  category: "file operations",
  cases: [
    ...others,
    ...INEXACT.map(([id, from]) =>
      scriptedCase({
        id: `edits-with-${id}`,
        task: TASK,
        files: FILES,
        verify: [fileEquals("/src/config.ts", CHANGED)],
        policy: "hasty",
        plan: [{ ...RIGHT, wrongly: edit("/src/config.ts", from, RIGHT.to) }, say("Changed.")],
      }),
    ),
    ...WRONG_PATHS.map(([id, policy, path]) =>
      scriptedCase({
        id: `finds-a-path-after-a-${id}`,
        task: TASK,
        files: FILES,
        verify: [fileEquals("/src/config.ts", CHANGED)],
        policy,
        plan: [read("/src/config.ts", {}, { wrongly: read(path) }), RIGHT, say("Changed.")],
      }),
    ),
    ...TOGETHER.map(([id, edits]) =>
      scriptedCase({
        id,
        task: "Multiply x in the functions as described.",
        files: FILES,
        verify: [fileEquals("/src/math.js", doubledFile(edits))],
        policy: "parallel-edits",
        plan: doubled(edits),
      }),
    ),
  ],
};
