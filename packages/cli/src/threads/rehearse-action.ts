/** `threads rehearse`: which calls of past threads other rules would decide differently. Nothing is run. */
import { readFile } from "node:fs/promises";
import type { RecordedCall, UsedByRun } from "@deepwright/checkpoint";
import { CommandError, usageError } from "../command-error.ts";
import { commandGate } from "../commands/command-gate.ts";
import { realDirectory } from "../run/directory.ts";
import { commandJudge } from "../settings/command-rules.ts";
import { loadSettings } from "../settings/load-settings.ts";
import type { Settings } from "../settings/schema.ts";
import { parseSettings } from "../settings/settings-file.ts";
import { homeOf } from "../state/home.ts";
import { count } from "../terminal/amounts.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import type { Action } from "./actions.ts";
import { shortId } from "./lines.ts";

export type Verdict = "runs" | "asks" | "is denied" | "is not reached";
type Rules = Pick<Settings, "permissions" | "commands" | "budget">;
const RULES = ["permissions", "commands", "budget", "$schema"];
type Judge = (call: RecordedCall) => Promise<Verdict>;

export const rehearse: Action = async (context) => {
  const { options, around } = context;
  if (options.permissions === undefined)
    throw usageError("No rules were given.", "Name a file: --permissions rules.json");
  const directory = await realDirectory(options.in ?? ".");
  const wanted = await rulesIn(options.permissions);
  const { settings } = await loadSettings({ directory, home: homeOf(around.env), env: around.env });
  const [now, proposed] = await Promise.all([judgeOf(settings, directory), judgeOf(wanted, directory)]);
  const { recordedCalls } = await import("@deepwright/checkpoint");
  const saver = await context.saver();
  const threads = await context.threads();
  const changes: Rehearsed[] = [];
  let looked = 0;
  let calls = 0;
  for (let after: string | undefined, isMore = true; isMore; ) {
    const page = await threads.list({ cwd: directory, limit: 100, ...(after !== undefined && { after }) });
    for (const { threadId } of page.threads) {
      context.signal.throwIfAborted();
      looked += 1;
      for (const call of await recordedCalls(saver, threadId)) {
        calls += 1;
        const [before, verdict] = [await now(call), await proposed(call)];
        if (before !== verdict) changes.push({ threadId, call, now: before, proposed: verdict });
      }
    }
    after = page.next;
    isMore = after !== undefined;
  }
  const summary = `${count(changes.length, "call")} of ${calls} in ${count(looked, "thread")} would change.`;
  context.print({ threads: looked, calls, changes }, [...changeLines(changes), summary]);
};

interface Rehearsed {
  readonly threadId: string;
  readonly call: RecordedCall;
  readonly now: Verdict;
  readonly proposed: Verdict;
}

async function rulesIn(path: string): Promise<Rules> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") throw usageError(`There is no file '${safeLine(path)}'.`);
    throw new CommandError(`'${safeLine(path)}' cannot be read: ${error.code ?? "unknown error"}.`);
  });
  const written = await parseSettings(text, path);
  const other = Object.keys(written).find((key) => !RULES.includes(key));
  if (other !== undefined)
    throw usageError(
      `'${safeLine(path)}' has '${safeLine(other)}', and only 'permissions', 'commands' and 'budget' are rehearsed.`,
    );
  const { maxCost, maxSeconds, maxStepsPerAgent } = written.budget ?? {};
  if ([maxCost, maxSeconds, maxStepsPerAgent].some((limit) => limit !== undefined))
    throw usageError(
      `Of the budget in '${safeLine(path)}' only 'maxSteps' and 'maxTokens' can be rehearsed.`,
    );
  return written;
}

/** Rules of paths for file tools, rules of commands for `execute`. Other tools are not judged. */
async function judgeOf(
  { permissions = [], commands, budget = {} }: Rules,
  directory: string,
): Promise<Judge> {
  const { explainPermission } = await import("deepwright");
  const judge = commandJudge(commands);
  const gate = commandGate({ kind: "os", reach: "" }, { directory, place: "", judge });
  const asks = gate.when as (request: object) => Promise<boolean>;
  return async ({ tool, args, used }) => {
    if (used !== undefined && isSpent(budget, used)) return "is not reached";
    if (tool === "execute") {
      if (judge?.(String(args.command))?.decision === "deny") return "is denied";
      return (await asks({ toolCall: { name: tool, args } })) ? "asks" : "runs";
    }
    const operation = OPERATIONS.get(tool);
    if (operation === undefined) return "runs";
    const path = args.file_path ?? args.path ?? "/";
    return WORDS[explainPermission(permissions, String(path), operation).mode];
  };
}

/** The budget ends the run before the model is asked for the call. */
function isSpent(
  { maxSteps, maxTokens }: NonNullable<Rules["budget"]>,
  { steps, tokens }: UsedByRun,
): boolean {
  return (maxSteps !== undefined && steps > maxSteps) || (maxTokens !== undefined && tokens >= maxTokens);
}

const WORDS = { allow: "runs", interrupt: "asks", deny: "is denied" } as const;

const OPERATIONS: ReadonlyMap<string, "read" | "write"> = new Map([
  ["ls", "read"],
  ["read_file", "read"],
  ["glob", "read"],
  ["grep", "read"],
  ["write_file", "write"],
  ["edit_file", "write"],
  ["delete", "write"],
]);

function changeLines(changes: readonly Rehearsed[]): string[] {
  if (changes.length === 0) return [];
  const columns = [{ heading: "THREAD" }, { heading: "NOW" }, { heading: "PROPOSED" }, { heading: "CALL" }];
  const rows = changes.map(({ threadId, call, now, proposed }) => [
    shortId(threadId),
    now,
    proposed,
    safeLine(`${call.tool} ${call.args.command ?? call.args.file_path ?? call.args.path ?? ""}`, 100),
  ]);
  return tableLines(columns, rows);
}
