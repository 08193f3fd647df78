/** Cases of a model that says "done" too early. The same cases run with completion checks and without. */
import { defineCase, type EvalCase, type Suite } from "../format/eval-case.ts";
import { edit, type Plan, write } from "../policies/plan.ts";
import { fileContains, fileEquals, fileMissing } from "../verifiers/file-verifiers.ts";
import type { Verifier } from "../verifiers/verifier.ts";

/** A todo that a run starts with; see docs/completion-checks.md. */
export interface ContractTodo {
  readonly content: string;
  readonly check: Readonly<Record<string, unknown>>;
}

interface Contract {
  readonly given: EvalCase;
  readonly todos: readonly ContractTodo[];
}

function contract(
  id: string,
  task: string,
  plan: Plan,
  verify: readonly Verifier[],
  todos: readonly ContractTodo[],
  more: Partial<EvalCase> = {},
): Contract {
  const script = { policy: "done-early", plan, ...more.script };
  return { given: defineCase({ id, task, limits: { modelCalls: 30 }, verify, ...more, script }), todos };
}

const there = (file: string): ContractTodo => ({ content: `${file} is there`, check: { file } });
const holds = (file: string, contains: string): ContractTodo => ({
  content: `${file} has its content`,
  check: { file, contains },
});

const PACKAGE = '{"name":"whale","version":"1.0.0"}';

const CONTRACTS: readonly Contract[] = [
  contract(
    "second-of-two-files",
    "Write /a.md with `one` and /b.md with `two`.",
    [write("/a.md", "one"), write("/b.md", "two")],
    [fileEquals("/a.md", "one"), fileEquals("/b.md", "two")],
    [there("/a.md"), there("/b.md")],
  ),
  contract(
    "rename-in-both-files",
    "Rename `old` to `fresh` in /x.ts and /y.ts.",
    [edit("/x.ts", "old", "fresh"), edit("/y.ts", "old", "fresh")],
    [fileEquals("/x.ts", "fresh()"), fileEquals("/y.ts", "fresh()")],
    [holds("/x.ts", "fresh"), holds("/y.ts", "fresh")],
    { files: { "/x.ts": "old()", "/y.ts": "old()" } },
  ),
  contract(
    "test-for-the-code",
    "Write /sum.ts and a test in /sum.test.ts.",
    [write("/sum.ts", "export const sum = 1;"), write("/sum.test.ts", "test('sum', () => {});")],
    [fileContains("/sum.test.ts", "test(")],
    [there("/sum.ts"), holds("/sum.test.ts", "test(")],
  ),
  contract(
    "entry-in-the-changelog",
    "Set the version of /package.json to 1.1.0 and add it to /CHANGELOG.md.",
    [edit("/package.json", "1.0.0", "1.1.0"), edit("/CHANGELOG.md", "# Changes", "# Changes\n\n1.1.0")],
    [fileContains("/package.json", "1.1.0"), fileContains("/CHANGELOG.md", "1.1.0")],
    [holds("/package.json", "1.1.0"), holds("/CHANGELOG.md", "1.1.0")],
    { files: { "/package.json": PACKAGE, "/CHANGELOG.md": "# Changes\n" } },
  ),
  contract(
    "report-that-fits-a-schema",
    "Write /report.json with `total` and `items`.",
    [write("/report.json", '{"total":2}'), edit("/report.json", "}", ',"items":["a","b"]}')],
    [fileEquals("/report.json", '{"total":2,"items":["a","b"]}')],
    [
      {
        content: "the report is whole",
        check: { file: "/report.json", json_schema: '{"required":["total","items"]}' },
      },
    ],
  ),
  contract(
    "three-chapters",
    "Write /1.md, /2.md and /3.md.",
    [write("/1.md", "one"), write("/2.md", "two"), write("/3.md", "three")],
    [fileEquals("/3.md", "three")],
    ["/1.md", "/2.md", "/3.md"].map(there),
  ),
  contract(
    "remove-what-was-replaced",
    "Write /new.md and remove /old.md.",
    [write("/new.md", "new"), { do: "call", tool: "delete", args: { file_path: "/old.md" } }],
    [fileEquals("/new.md", "new"), fileMissing("/old.md")],
    [there("/new.md"), { content: "/old.md is gone", check: { file: "/old.md", absent: true } }],
    { files: { "/old.md": "old" } },
  ),
  contract(
    "careful-model-needs-no-check",
    "Write /a.md and /b.md.",
    [write("/a.md", "one"), write("/b.md", "two")],
    [fileEquals("/b.md", "two")],
    [there("/a.md"), there("/b.md")],
    { script: { policy: "careful", plan: [write("/a.md", "one"), write("/b.md", "two")] } },
  ),
  contract(
    "weak-check-proves-little",
    "Write /a.md with two lines, `one` and `two`.",
    [write("/a.md", "one\n"), edit("/a.md", "one\n", "one\ntwo\n")],
    [fileEquals("/a.md", "one\ntwo\n")],
    [there("/a.md")],
  ),
  contract(
    "impossible-work-is-not-called-done",
    "Write /a.md and /b.md.",
    [write("/a.md", "one")],
    [{ name: "the run does not end as done", check: ({ state }) => endsUnverified(state) }],
    [there("/a.md"), there("/b.md")],
  ),
];

function endsUnverified(state: Readonly<Record<string, unknown>>) {
  const { kind } = (state.outcome ?? {}) as { kind?: string };
  return kind === "unverified"
    ? ({ passed: true } as const)
    : ({ passed: false, reason: `it ended as '${kind}'` } as const);
}

export const COMPLETION_SUITE: Suite = {
  category: "completion",
  cases: CONTRACTS.map(({ given }) => given),
};

/** The todos that a case starts with where the harness has completion checks. */
export function contractOf(id: string): readonly ContractTodo[] {
  return CONTRACTS.find(({ given }) => given.id === id)?.todos ?? [];
}
