/** Long context: results, files, messages and arguments that are larger than the window. */
import type { EvalCase, Suite } from "../format/eval-case.ts";
import { call, edit, read, say, tell, together, write } from "../policies/plan.ts";
import { answerContains } from "../verifiers/answer-verifiers.ts";
import { fileContains } from "../verifiers/file-verifiers.ts";
import { filler, longFile, scriptedCase } from "./building.ts";
import { searchArchive } from "./office-tools.ts";

const search = (text: string) => call("search_archive", { search_text: text }, { look: "shelf is" });
const SHELF = tell(/shelf is ([\w-]+\d)/, "Shelf $1.");

const archive: readonly EvalCase[] = [1, 2, 4].map((count) =>
  scriptedCase({
    id: `${count}-results-larger-than-the-window`,
    task: "On which shelf are the records?",
    tools: [searchArchive],
    window: 60_000,
    verify: [answerContains("B-17")],
    calls: 25,
    policy: "careful",
    plan: [...Array.from({ length: count }, (_, index) => search(`record ${index}`)), SHELF],
  }),
);

const cases: readonly EvalCase[] = [
  ...archive,
  scriptedCase({
    id: "two-long-results-in-one-turn",
    task: "On which shelf are the records?",
    tools: [searchArchive],
    window: 60_000,
    verify: [answerContains("B-17")],
    calls: 25,
    policy: "careful",
    plan: [together(search("one"), search("two")), SHELF],
  }),
  scriptedCase({
    id: "a-long-argument",
    task: "Write the long text to /long.md, then read its title.",
    window: 40_000,
    verify: [fileContains("/long.md", "THE TITLE"), answerContains("written")],
    calls: 25,
    policy: "careful",
    plan: [
      write("/long.md", `THE TITLE\n${filler(12_000, 9)}`),
      write("/long-2.md", `THE SECOND\n${filler(12_000, 10)}`),
      read("/long.md", { offset: 0, limit: 3 }),
      say("All is written."),
    ],
  }),
  scriptedCase({
    id: "a-message-larger-than-the-window",
    task: `The shelf is C-3. ${filler(60_000, 8)}`,
    window: 40_000,
    verify: [answerContains("C-3")],
    policy: "careful",
    plan: [tell(/shelf is ([\w-]+\d)/i, "Shelf $1.")],
  }),
  scriptedCase({
    id: "a-file-larger-than-the-window",
    task: "Read /big.log to its end and name the last line.",
    files: { "/big.log": longFile(12_000, 11_999, "the shelf is B-17") },
    window: 40_000,
    verify: [answerContains("B-17")],
    calls: 60,
    policy: "over-reads",
    plan: [read("/big.log"), SHELF],
  }),
  scriptedCase({
    id: "a-line-larger-than-the-window",
    task: "On which shelf is it, by the beginning of /line.json?",
    files: { "/line.json": `{"note":"the shelf is B-17","data":"${"x".repeat(300_000)}"}` },
    window: 40_000,
    verify: [answerContains("B-17")],
    policy: "careful",
    plan: [read("/line.json"), SHELF],
  }),
  scriptedCase({
    id: "an-edit-in-a-very-long-file",
    task: "Move it to shelf D-4.",
    files: { "/big.log": longFile(9_000, 8_000, "the shelf is B-17") },
    window: 40_000,
    verify: [fileContains("/big.log", "shelf is D-4")],
    policy: "hasty",
    plan: [
      call("grep", { pattern: "shelf is", output_mode: "content" }),
      edit("/big.log", "shelf is B-17", "shelf is D-4"),
      say("Moved."),
    ],
  }),
  scriptedCase({
    id: "long-results-then-an-early-fact",
    task: [
      "The pass code is KESTREL.",
      "Search the archive for one, two and three.",
      "What is the pass code?",
    ],
    tools: [searchArchive],
    window: 60_000,
    verify: [answerContains("KESTREL")],
    calls: 30,
    policy: "careful",
    plan: [
      say("Noted."),
      search("one"),
      search("two"),
      search("three"),
      say("Searched."),
      tell(/pass code is (\w+)/, "$1"),
    ],
  }),
];

export const longContext: Suite = { category: "long context", cases };
