/** Summarization: conversations and files that do not fit into the window, with facts that must survive. */
import type { EvalCase, Suite } from "../format/eval-case.ts";
import { call, read, say, tell } from "../policies/plan.ts";
import { answerContains, worldIs } from "../verifiers/answer-verifiers.ts";
import { doneBy, filler, scriptedCase } from "./building.ts";
import { createOrder } from "./office-tools.ts";

const WINDOW = 16_000;

/** Messages of about 2,000 tokens each; the numbered one has a decision. */
function talk(turns: number, at: number, fact: string): string[] {
  return Array.from({ length: turns }, (_, index) =>
    index === at ? `${fact}\n${filler(1_200, index + 1)}` : `Read this.\n${filler(1_200, index + 1)}`,
  );
}

const FACTS: readonly (readonly [id: string, fact: string, find: RegExp, answer: string])[] = [
  ["a-decision", "Decision: we use Postgres.", /we use (\w+)/, "Postgres"],
  ["a-name", "Remember: my name is Irma.", /name is (\w+)/, "Irma"],
  ["a-rule", "You must never deploy on Friday.", /never deploy on (\w+)/, "Friday"],
  ["a-date", "It was agreed that the launch is on 4 May.", /launch is on ([\w ]+\w)/, "4 May"],
];

const talks: readonly EvalCase[] = FACTS.flatMap(([id, fact, find, answer]) =>
  [10, 20].map((turns) =>
    scriptedCase({
      id: `keeps-${id}-over-${turns}-messages`,
      task: [...talk(turns, 1, fact), "Now answer my question about it."],
      window: WINDOW,
      verify: [answerContains(answer)],
      calls: 60,
      policy: "careful",
      plan: [...Array.from({ length: turns }, () => say("Read.")), tell(find, "$1")],
    }),
  ),
);

/** Files that are read one after the other; the answer stands in the first. */
const FILES = Object.fromEntries(
  Array.from({ length: 9 }, (_, index) => [
    `/report-${index}.md`,
    `${index === 0 ? "The fact to remember: the total is 4,711.\n" : ""}${filler(1_500, index + 20)}`,
  ]),
);

const reading: readonly EvalCase[] = [3, 6, 9].map((count) =>
  scriptedCase({
    id: `keeps-a-total-over-${count}-files`,
    task: "Read all reports, then tell me the total of the first.",
    files: FILES,
    window: WINDOW,
    verify: [answerContains("4,711")],
    calls: 60,
    policy: "over-reads",
    plan: [
      ...Array.from({ length: count }, (_, index) => read(`/report-${index}.md`)),
      tell(/total is ([\d,]+\d)/, "The total is $1."),
    ],
  }),
);

const ORDER = call("create_order", { item_name: "lamp", quantity: 3 });

const others: readonly EvalCase[] = [
  ...[1, 3].map((at) =>
    scriptedCase({
      id: `a-request-that-is-refused-as-too-long-at-call-${at}`,
      task: [...talk(4, 0, "Decision: we use Postgres."), "Which database?"],
      window: 30_000,
      faults: [{ kind: "overflow", call: at + 1 }],
      verify: [answerContains("Postgres")],
      calls: 30,
      policy: "careful",
      plan: [...Array.from({ length: 4 }, () => say("Read.")), tell(/we use (\w+)/, "$1")],
    }),
  ),
  scriptedCase({
    id: "work-goes-on-after-a-summary",
    task: [...talk(10, 0, "Remember: order three lamps at the end."), "Do it now."],
    tools: [createOrder],
    window: WINDOW,
    verify: [worldIs("ordered once", (world) => doneBy(world, "create_order").length === 1)],
    calls: 60,
    policy: "careful",
    plan: [...Array.from({ length: 10 }, () => say("Read.")), ORDER, say("Ordered.")],
  }),
  scriptedCase({
    id: "calls-before-a-summary-are-not-repeated",
    task: ["Order three lamps.", ...talk(10, 0, "Decision: we use Postgres."), "Which database?"],
    tools: [createOrder],
    window: WINDOW,
    verify: [
      answerContains("Postgres"),
      worldIs("ordered once", (world) => doneBy(world, "create_order").length === 1),
    ],
    calls: 60,
    policy: "careful",
    plan: [
      ORDER,
      say("Ordered."),
      ...Array.from({ length: 10 }, () => say("Read.")),
      tell(/we use (\w+)/, "$1"),
    ],
  }),
  scriptedCase({
    id: "a-fact-of-an-old-result",
    task: ["Read the first report.", ...talk(10, 5, "Nothing special."), "What was the total?"],
    files: FILES,
    window: WINDOW,
    verify: [answerContains("4,711")],
    calls: 60,
    policy: "careful",
    plan: [
      read("/report-0.md"),
      say("Read."),
      ...Array.from({ length: 10 }, () => say("Read.")),
      tell(/total is ([\d,]+\d)/, "$1"),
    ],
  }),
];

export const summarization: Suite = { category: "summarization", cases: [...talks, ...reading, ...others] };
