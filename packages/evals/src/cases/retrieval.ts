/** Retrieval: find a fact in files, long ones and many, and answer with it. */
import type { EvalCase, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { call, type Plan, read, tell } from "../policies/plan.ts";
import { answerContains } from "../verifiers/answer-verifiers.ts";
import { filler, longFile, scriptedCase } from "./building.ts";
import { searchArchive } from "./office-tools.ts";

const NOTES: Readonly<Record<string, string>> = {
  "/notes/2024/january.md": "# January\nThe budget was agreed.\n",
  "/notes/2024/march.md": "# March\nThe launch code is KESTREL.\n",
  "/notes/2025/june.md": "# June\nThe new office is in Turku.\n",
  "/notes/people.md": "# People\nThe auditor is called Irma Vainio.\n",
};
const MANY = Object.fromEntries(
  Array.from({ length: 120 }, (_, index) => [
    `/logs/day-${String(index).padStart(3, "0")}.log`,
    index === 77 ? `${filler(60, index)}\nfailure id ZX-4471\n` : filler(60, index),
  ]),
);

const CODE = tell(/launch code is (\w+)/, "The launch code is $1.");
const FAILURE = tell(/failure id ([A-Z][\w-]+)/, "It is $1.");

interface Row {
  readonly id: string;
  readonly task: string;
  readonly policy: PolicyName;
  readonly plan: Plan;
  readonly answer: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly window?: number;
}

const rows: readonly Row[] = [
  {
    id: "searches-then-answers",
    task: "What is the launch code?",
    policy: "careful",
    plan: [call("grep", { pattern: "launch code" }), read("/notes/2024/march.md"), CODE],
    answer: "KESTREL",
  },
  {
    id: "lists-then-reads",
    task: "Who is the auditor?",
    policy: "careful",
    plan: [
      call("ls", { path: "/notes" }),
      read("/notes/people.md"),
      tell(/auditor is called ([\w ]+)/, "$1"),
    ],
    answer: "Irma Vainio",
  },
  {
    id: "finds-a-file-by-pattern",
    task: "Where is the new office?",
    policy: "careful",
    plan: [
      call("glob", { pattern: "**/june.md" }),
      read("/notes/2025/june.md"),
      tell(/office is in (\w+)/, "$1"),
    ],
    answer: "Turku",
  },
  ...(["wrong-arguments", "broken-json", "misnamed-tools"] as const).map((policy) => ({
    id: `reads-with-${policy}`,
    task: "What is the launch code? It is in the notes of March 2024.",
    policy,
    plan: [read("/notes/2024/march.md"), CODE],
    answer: "KESTREL",
  })),
  ...(
    [
      ["month", "/notes/2024/Mars.md", "gives-up"],
      ["year", "/notes/2023/march.md", "gives-up"],
      ["folder", "/march.md", "hasty"],
    ] as const
  ).map(([what, path, policy]) => ({
    id: `misremembers-the-${what}`,
    task: "What is the launch code? It is in the notes of March 2024.",
    policy,
    plan: [read("/notes/2024/march.md", {}, { wrongly: read(path) }), CODE],
    answer: "KESTREL",
  })),
  {
    id: "searches-many-files",
    task: "What is the failure id in the logs?",
    policy: "careful",
    files: MANY,
    plan: [call("grep", { pattern: "failure id" }), read("/logs/day-077.log"), FAILURE],
    answer: "ZX-4471",
  },
  {
    id: "repeats-a-search",
    task: "What is the launch code?",
    policy: "repeats",
    plan: [call("grep", { pattern: "launch code" }), read("/notes/2024/march.md"), CODE],
    answer: "KESTREL",
  },
  {
    id: "reads-the-end-of-a-long-file",
    task: "What is the failure id in /big.log?",
    policy: "over-reads",
    files: { "/big.log": longFile(3_000, 2_900, "failure id ZX-4471") },
    plan: [read("/big.log"), FAILURE],
    answer: "ZX-4471",
  },
  {
    id: "reads-a-file-larger-than-the-window",
    task: "What is the failure id in /big.log?",
    policy: "over-reads",
    files: { "/big.log": longFile(6_000, 5_990, "failure id ZX-4471") },
    plan: [read("/big.log"), FAILURE],
    answer: "ZX-4471",
    window: 40_000,
  },
  {
    id: "searches-a-common-word",
    task: "What is the failure id in /big.log?",
    policy: "careful",
    files: { "/big.log": longFile(9_000, 8_000, "line of failure id ZX-4471") },
    plan: [
      call("grep", { pattern: "line", output_mode: "content" }, { look: "failure id" }),
      call("grep", { pattern: "failure id", output_mode: "content" }),
      FAILURE,
    ],
    answer: "ZX-4471",
    window: 30_000,
  },
  {
    id: "reads-one-page-of-a-long-file",
    task: "What is the failure id near line 2,900 of /big.log?",
    policy: "careful",
    files: { "/big.log": longFile(3_000, 2_900, "failure id ZX-4471") },
    plan: [read("/big.log", { offset: 2_880, limit: 40 }), FAILURE],
    answer: "ZX-4471",
  },
  {
    id: "asks-for-a-page-with-misnamed-numbers",
    task: "What is the failure id near line 2,900 of /big.log?",
    policy: "wrong-arguments",
    files: { "/big.log": longFile(3_000, 2_900, "failure id ZX-4471") },
    plan: [read("/big.log", { offset: 2_880, limit: 40 }), FAILURE],
    answer: "ZX-4471",
  },
];

const archive: EvalCase = scriptedCase({
  id: "finds-a-line-in-a-long-result",
  task: "On which shelf is the record of Ada?",
  tools: [searchArchive],
  verify: [answerContains("B-17")],
  window: 60_000,
  policy: "careful",
  plan: [
    call("search_archive", { search_text: "Ada" }, { look: "shelf is" }),
    tell(/shelf is ([\w-]+\d)/, "Shelf $1."),
  ],
});

export const retrieval: Suite = {
  category: "retrieval",
  cases: [
    ...rows.map(({ answer, files = NOTES, ...row }) =>
      scriptedCase({ ...row, files, verify: [answerContains(answer)], calls: 20 }),
    ),
    archive,
  ],
};
