/** Memory: facts of files in the prompt, and facts that must last from one thread to the next. */
import type { EvalCase, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { edit, type Plan, read, say, tell, write } from "../policies/plan.ts";
import { answerContains } from "../verifiers/answer-verifiers.ts";
import { fileContains } from "../verifiers/file-verifiers.ts";
import { filler, scriptedCase } from "./building.ts";

const PATH = "/AGENTS.md";
const BASE = "# Project\n\nUse two spaces.\n\n## Notes\n";

/** Facts of the memory file, and questions about them. */
const FACTS: readonly (readonly [
  id: string,
  line: string,
  question: string,
  find: RegExp,
  answer: string,
])[] = [
  ["the-build-command", "Build with `make all`.", "How do I build this?", /Build with `([^`]+)`/, "make all"],
  [
    "the-test-command",
    "Run tests with `npm run check`.",
    "How do I test?",
    /tests with `([^`]+)`/,
    "npm run check",
  ],
  ["a-name", "The user's name is Irma.", "What is my name?", /user's name is (\w+)/, "Irma"],
  ["a-language", "Answer in Finnish.", "Which language do I like?", /Answer in (\w+)/, "Finnish"],
  ["a-port", "The server listens on port 4711.", "Which port?", /port (\d+)/, "4711"],
];

const known: readonly EvalCase[] = FACTS.map(([id, line, task, find, answer]) =>
  scriptedCase({
    id: `knows-${id}`,
    task,
    files: { [PATH]: `${BASE}${line}\n` },
    memory: [PATH],
    verify: [answerContains(answer)],
    policy: "careful",
    plan: [tell(find, "$1")],
  }),
);

const LEARNED = edit(PATH, "## Notes\n", "## Notes\nThe deploy day is Thursday.\n");
const ASK = tell(/deploy day is (\w+)/, "On $1.");

/** The user states a fact in one thread and asks for it in the next. The model stores it in one of several ways. */
const LESSONS: readonly (readonly [id: string, policy: PolicyName, store: Plan])[] = [
  ["plainly", "careful", [read(PATH), LEARNED, say("Noted.")]],
  ["with-wrong-arguments", "wrong-arguments", [LEARNED, say("Noted.")]],
  ["with-broken-json", "broken-json", [LEARNED, say("Noted.")]],
  [
    "with-wrong-white-space",
    "hasty",
    [{ ...LEARNED, wrongly: edit(PATH, "##  Notes\n", LEARNED.to) }, say("Noted.")],
  ],
  [
    "with-a-wrong-path",
    "gives-up",
    [read(PATH, {}, { wrongly: read("/agents.md") }), LEARNED, say("Noted.")],
  ],
  ["by-replacing-the-file", "gives-up", [write(PATH, `${BASE}The deploy day is Thursday.\n`), say("Noted.")]],
  [
    "with-two-edits-at-once",
    "parallel-edits",
    [LEARNED, edit(PATH, "two spaces", "three spaces"), say("Noted.")],
  ],
];

const learned: readonly EvalCase[] = LESSONS.map(([id, policy, store]) =>
  scriptedCase({
    id: `learns-${id}`,
    task: ["Remember that the deploy day is Thursday.", "When do we deploy?"],
    newThreads: true,
    files: { [PATH]: BASE },
    memory: [PATH],
    verify: [answerContains("Thursday"), fileContains(PATH, "Thursday")],
    policy,
    plan: [...store, ASK],
  }),
);

const others: readonly EvalCase[] = [
  scriptedCase({
    id: "starts-a-memory-file",
    task: ["Remember that the deploy day is Thursday.", "When do we deploy?"],
    newThreads: true,
    memory: [PATH],
    verify: [answerContains("Thursday")],
    policy: "careful",
    plan: [write(PATH, "The deploy day is Thursday.\n"), say("Noted."), ASK],
  }),
  scriptedCase({
    id: "two-memory-files",
    task: "When do we deploy, and how do I build?",
    files: { "/home/AGENTS.md": "The deploy day is Thursday.", "/work/AGENTS.md": "Build with `make all`." },
    memory: ["/home/AGENTS.md", "/work/AGENTS.md"],
    verify: [answerContains("Thursday")],
    policy: "careful",
    plan: [ASK],
  }),
  scriptedCase({
    id: "a-long-memory-file",
    task: "When do we deploy?",
    files: { [PATH]: `${filler(9_000, 2)}\nThe deploy day is Thursday.\n` },
    memory: [PATH],
    verify: [answerContains("Thursday")],
    policy: "careful",
    plan: [ASK],
  }),
  scriptedCase({
    id: "corrects-a-memory",
    task: ["We deploy on Friday from now on.", "When do we deploy?"],
    newThreads: true,
    files: { [PATH]: "The deploy day is Thursday.\n" },
    memory: [PATH],
    verify: [answerContains("Friday")],
    policy: "careful",
    plan: [edit(PATH, "Thursday", "Friday"), say("Noted."), ASK],
  }),
  scriptedCase({
    id: "three-threads-each-add-one",
    task: ["Remember: red.", "Remember: green.", "Which colours did I name?"],
    newThreads: true,
    files: { [PATH]: BASE },
    memory: [PATH],
    verify: [answerContains("red", "green")],
    policy: "careful",
    plan: [
      edit(PATH, "## Notes\n", "## Notes\nColour: red\n"),
      say("Noted."),
      edit(PATH, "Colour: red\n", "Colour: red, green\n"),
      say("Noted."),
      tell(/Colour: ([\w, ]+)/, "$1"),
    ],
  }),
];

export const memory: Suite = { category: "memory", cases: [...known, ...learned, ...others] };
