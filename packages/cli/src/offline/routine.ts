/**
 * The routine of the offline model: plan, look around, read, delegate once, report, finish.
 *
 * Every turn is decided from the history alone, so the same history always gets the same turn, and a
 * step whose tools are not offered is left out.
 */
import { consolidationTurn, SEARCH_TOOL } from "./consolidation.ts";
import { factsOf, filesOf } from "./facts.ts";
import type { PlannedCall, PlannedTurn } from "./planned-turn.ts";
import { type Progress, successes, wasTried } from "./progress.ts";
import { selectFiles } from "./relevance.ts";
import { answerText, reportText } from "./report.ts";

interface Step {
  readonly todo: string;
  /** It is left out when none of these is offered. */
  readonly tools: readonly string[];
  /** The remaining calls; empty when the step is done. */
  readonly calls: (progress: Progress) => readonly PlannedCall[];
}

const SECOND_LOOK =
  "Take a second look at the files, without writing any, and say in a few lines what is there.";

const STEPS: readonly Step[] = [
  { todo: "Look around the workspace", tools: ["ls", "glob", "grep"], calls: lookAround },
  { todo: "Read the files that matter", tools: ["read_file"], calls: readFiles },
  { todo: "Let a subagent take a second look", tools: ["task"], calls: delegate },
  { todo: "Write a report", tools: ["write_file"], calls: writeReport },
];

export function nextTurn(progress: Progress, offered: ReadonlySet<string>): PlannedTurn {
  if (offered.has(SEARCH_TOOL)) return consolidationTurn(progress);
  const steps = STEPS.filter((step) => applies(step, progress.task, offered));
  const plans = offered.has("write_todos");
  if (plans && steps.length > 0 && !wasTried(progress, "write_todos"))
    return { text: "", calls: [todos(steps, 0)] };
  for (const [index, step] of steps.entries()) {
    const calls = step.calls(progress).filter(({ name }) => offered.has(name));
    if (calls.length === 0) continue;
    const update = plans && index > 0 && !isListed(progress, index) ? [todos(steps, index)] : [];
    return { text: "", calls: [...update, ...calls] };
  }
  if (plans && steps.length > 0 && !isListed(progress, steps.length))
    return { text: "", calls: [todos(steps, steps.length)] };
  const facts = factsOf(progress);
  const path = reportPath(progress);
  const isPrinted = path === undefined && steps.length > 0 && !progress.task.startsWith(SECOND_LOOK);
  const report = isPrinted ? reportText(progress.task, facts) : undefined;
  return { text: answerText(facts, path, report), calls: [] };
}

/** A file is written only where the task asks for one; a subagent that takes our own second look neither writes nor delegates. */
function applies({ tools }: Step, task: string, offered: ReadonlySet<string>): boolean {
  const isSecondLook = task.startsWith(SECOND_LOOK);
  if (tools.includes("write_file") && wantedFile(task) === undefined) return false;
  if (isSecondLook && (tools.includes("task") || tools.includes("write_file"))) return false;
  return tools.some((tool) => offered.has(tool));
}

/** The list with the steps before `current` completed. */
function todos(steps: readonly Step[], current: number): PlannedCall {
  const status = (index: number): string =>
    index < current ? "completed" : index === current ? "in_progress" : "pending";
  return {
    name: "write_todos",
    args: { todos: steps.map(({ todo }, index) => ({ content: todo, status: status(index) })) },
  };
}

/** Whether a list with at least this many completed steps was sent already. */
function isListed({ calls }: Progress, completed: number): boolean {
  return calls.some(
    ({ name, args }) =>
      name === "write_todos" &&
      Array.isArray(args.todos) &&
      args.todos.filter((todo: { status?: unknown }) => todo?.status === "completed").length >= completed,
  );
}

function lookAround(progress: Progress): readonly PlannedCall[] {
  const tried = ["ls", "glob", "grep"].some((name) => wasTried(progress, name));
  if (tried) return [];
  return [
    { name: "ls", args: { path: "/" } },
    { name: "glob", args: { pattern: "**/*" } },
    { name: "grep", args: { pattern: "TODO", max_count: 200 } },
    { name: "grep", args: { pattern: "FIXME", max_count: 200 } },
  ];
}

function readFiles(progress: Progress): readonly PlannedCall[] {
  if (wasTried(progress, "read_file")) return [];
  const { read, measure } = selectFiles(filesOf(progress), progress.task);
  const page = (path: string, limit: number): PlannedCall => ({
    name: "read_file",
    args: { file_path: path, limit },
  });
  return [...read.map((path) => page(path, 400)), ...measure.map((path) => page(path, 1))];
}

function delegate(progress: Progress): readonly PlannedCall[] {
  if (wasTried(progress, "task")) return [];
  const description = `${SECOND_LOOK} The task is: ${progress.task}`;
  return [{ name: "task", args: { description, subagent_type: "general-purpose" } }];
}

const REPORT_TRIES = 3;
const WANTED =
  /\b(?:in|into|to|as|write|create|save)\s+(?:a\s+|the\s+|file\s+)*[`'"]?\/?([\w-][\w./-]*\.(?:md|txt))\b/i;

/** The file the task wants written, for example `report.md` in "Summarise this project in report.md". */
function wantedFile(task: string): string | undefined {
  const [, name] = WANTED.exec(task) ?? [];
  return name === undefined || name.includes("..") ? undefined : `/${name}`;
}

/** A name that is taken is followed by another one, a few times. */
function writeReport(progress: Progress): readonly PlannedCall[] {
  const tried = progress.calls.filter(({ name }) => name === "write_file");
  if (reportPath(progress) !== undefined || tried.length >= REPORT_TRIES) return [];
  const taken = new Set([...filesOf(progress), ...tried.map(({ args }) => String(args.file_path))]);
  const wanted = wantedFile(progress.task) ?? "/report.md";
  const [stem, ending] = [wanted.replace(/\.\w+$/, ""), /\.\w+$/.exec(wanted)?.[0] ?? ""];
  const names = [wanted, ...Array.from({ length: taken.size + 1 }, (_, i) => `${stem}-${i + 2}${ending}`)];
  const path = names.find((name) => !taken.has(name));
  const content = reportText(progress.task, factsOf(progress));
  return [{ name: "write_file", args: { file_path: path, content } }];
}

function reportPath(progress: Progress): string | undefined {
  const written = successes(progress, "write_file")[0];
  return written === undefined ? undefined : String(written.args.file_path);
}
