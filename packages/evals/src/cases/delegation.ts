/** Delegation: work that other agents do, and what comes back. Without subagents a model does the work itself. */
import type { EvalCase, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { call, delegate, edit, type Plan, read, say, tell, together, write } from "../policies/plan.ts";
import { answerContains, worldIs } from "../verifiers/answer-verifiers.ts";
import { fileContains } from "../verifiers/file-verifiers.ts";
import type { Verifier } from "../verifiers/verifier.ts";
import { doneBy, filler, scriptedCase } from "./building.ts";
import { createOrder, searchArchive } from "./office-tools.ts";

const SUBAGENTS = [
  { name: "researcher", description: "Looks things up.", systemPrompt: "Look it up and report." },
  { name: "writer", description: "Writes files.", systemPrompt: "Write what you are told to write." },
];
const FILES = { "/facts.md": "The shelf is B-17.\n", "/shared.md": "one\ntwo\nthree\n" };

const research = delegate("researcher", "Find out the shelf in the facts.", [
  read("/facts.md"),
  tell(/shelf is ([\w-]+\d)/i, "The shelf is $1."),
]);
const SHELF = tell(/shelf is ([\w-]+\d)/i, "Shelf $1.");
const writing = (name: string) =>
  delegate("writer", `Write the chapter called ${name}.`, [
    write(`/${name}.md`, `chapter ${name}`),
    say("Written."),
  ]);
const changing = (from: string, to: string) =>
  delegate("writer", `Replace the word ${from} in the shared file.`, [
    edit("/shared.md", from, to),
    say("Replaced."),
  ]);

interface Row {
  readonly id: string;
  readonly policy?: PolicyName;
  readonly plan: Plan;
  readonly verify: readonly Verifier[];
  readonly more?: Partial<EvalCase>;
}

const rows: readonly Row[] = [
  { id: "a-report-comes-back", plan: [research, SHELF], verify: [answerContains("B-17")] },
  {
    id: "files-come-back",
    plan: [writing("north"), say("Done.")],
    verify: [fileContains("/north.md", "chapter north")],
  },
  {
    id: "two-children-at-once",
    plan: [together(writing("north"), writing("south")), say("Done.")],
    verify: [fileContains("/north.md", "chapter"), fileContains("/south.md", "chapter")],
  },
  {
    id: "two-children-change-one-file",
    plan: [together(changing("one", "ONE"), changing("three", "THREE")), say("Done.")],
    verify: [fileContains("/shared.md", "ONE", "two", "THREE")],
  },
  {
    id: "children-one-after-the-other",
    plan: [changing("one", "ONE"), changing("three", "THREE"), say("Done.")],
    verify: [fileContains("/shared.md", "ONE", "two", "THREE")],
  },
  {
    id: "wrong-arguments",
    policy: "wrong-arguments",
    plan: [research, SHELF],
    verify: [answerContains("B-17")],
  },
  { id: "broken-json", policy: "broken-json", plan: [research, SHELF], verify: [answerContains("B-17")] },
  {
    id: "an-agent-that-does-not-exist",
    policy: "hasty",
    plan: [
      { ...research, wrongly: call("task", { description: research.task, subagent_type: "librarian" }) },
      SHELF,
    ],
    verify: [answerContains("B-17")],
  },
  {
    id: "a-child-with-a-tool",
    plan: [
      delegate("researcher", "Order three lamps for the office.", [
        call("create_order", { item_name: "lamp", quantity: 3 }),
        say("Ordered."),
      ]),
      say("Done."),
    ],
    verify: [worldIs("ordered once", (world) => doneBy(world, "create_order").length === 1)],
  },
  {
    id: "a-long-search-stays-out-of-the-main-thread",
    plan: [
      delegate("researcher", "Search the archive for the record of Ada.", [
        call("search_archive", { search_text: "Ada" }, { look: "shelf is" }),
        tell(/shelf is ([\w-]+\d)/, "The shelf is $1."),
      ]),
      SHELF,
    ],
    verify: [answerContains("B-17")],
    more: { window: 60_000 },
  },
  {
    id: "a-crash-while-a-child-works",
    plan: [writing("north"), say("Done.")],
    verify: [fileContains("/north.md", "chapter north")],
    more: { faults: [{ kind: "crash", call: 3 }] },
  },
  {
    id: "a-long-report",
    plan: [
      delegate("researcher", "Describe everything at length.", [
        say(`The shelf is B-17. ${filler(30_000, 6)}`),
      ]),
      SHELF,
    ],
    verify: [answerContains("B-17")],
    more: { window: 40_000 },
  },
];

export const delegation: Suite = {
  category: "delegation",
  cases: rows.map(({ id, policy = "careful", plan, verify, more }) =>
    scriptedCase({
      id,
      task: "Do the work, with help where it makes sense.",
      files: FILES,
      tools: [createOrder, searchArchive],
      subagents: SUBAGENTS,
      verify,
      calls: 25,
      policy,
      plan,
      ...more,
    }),
  ),
};
