/** One attempt of `--best-of`: a run of this program in a copy of the directory, then the check. */
import { createInterface } from "node:readline";
import type { Fork, ForkCheck, ForkReport } from "@deepwright/checkpoint";
import { isRecord } from "deepwright/check-options";
import { startProgram } from "deepwright/internal";
import { EXIT } from "../exit-codes.ts";
import type { Stop } from "../run/stop.ts";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { BestOfOptions } from "./best-of-options.ts";
import { commandsIn } from "./copy-commands.ts";

export interface AttemptRequest {
  /** From 1. */
  readonly number: number;
  readonly fork: Fork;
  /** The fork goes on with a thread that is there already. */
  readonly isContinued: boolean;
  readonly task: string;
  readonly options: BestOfOptions;
  readonly console: Console;
  readonly stop: Stop;
}

export interface Attempted {
  /** Absent: the run ended before it had a thread. */
  readonly threadId: string | undefined;
  readonly report: ForkReport;
  readonly exitCode: number;
}

const OUTPUT_CHARACTERS = 10_000;

/** Copies are removed by the caller. */
export async function attempt(request: AttemptRequest): Promise<Attempted> {
  const { options, stop } = request;
  const { end, exitCode } = await runOf(request);
  const usage = isRecord(end?.usage) ? end.usage : {};
  const isWorth = options.check !== undefined && stop.reason === undefined && end !== undefined;
  const check = isWorth ? await checkOf(request, options.check) : undefined;
  return {
    threadId: typeof end?.threadId === "string" ? end.threadId : undefined,
    exitCode,
    report: {
      ...{ end: endWord(end, exitCode), check },
      ...(typeof end?.model === "string" && { model: end.model }),
      ...(typeof end?.cost === "number" && { cost: end.cost }),
      ...(typeof end?.seconds === "number" && { seconds: end.seconds }),
      ...(typeof usage.input === "number" && { inputTokens: usage.input }),
      ...(typeof usage.output === "number" && { outputTokens: usage.output }),
    },
  };
}

function endWord(end: Record<string, unknown> | undefined, exitCode: number): string {
  if (exitCode === EXIT.done) return "done";
  if (exitCode === EXIT.approval) return "needs approval";
  if (exitCode === EXIT.limit) return "limit";
  if (exitCode === EXIT.unverified) return "not verified";
  return end?.end === "stopped" ? "stopped" : "failed";
}

interface RunOfChild {
  /** The last part of the run's stream. */
  readonly end: Record<string, unknown> | undefined;
  readonly exitCode: number;
}

/** Its lines for people are shown behind its number. */
async function runOf({ number, fork, isContinued, task, options, console, stop }: AttemptRequest) {
  const [program = ""] = process.argv.slice(1);
  const thread = isContinued ? ["--thread", fork.threadId] : [];
  const words = ["run", "--in", fork.directory, ...options.words, ...thread, "-"];
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const child = startProgram(process.execPath, [...process.execArgv, program, ...words], {
    ...{ cwd: fork.directory, env, stdio: ["pipe", "pipe", "pipe", "ipc"], group: "own" },
  });
  const end = (): boolean => child.kill("SIGKILL");
  const interrupt = (): boolean => child.kill("SIGINT");
  process.on("exit", end);
  stop.signal.addEventListener("abort", interrupt, { once: true });
  if (stop.signal.aborted) interrupt();
  try {
    child.stdin?.on("error", () => {});
    child.stdin?.end(task);
    const seen: { end?: Record<string, unknown> } = {};
    if (child.stdout)
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.includes('"run-end"')) seen.end = endIn(line) ?? seen.end;
      });
    if (child.stderr)
      createInterface({ input: child.stderr }).on("line", (line) => {
        const shown = shownLine(line, fork.directory);
        if (shown !== undefined && !options.isQuiet)
          console.line(console.colours.dim(`${number} │ ${safeLine(shown, 500)}`));
      });
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? EXIT.failed));
    });
    return { end: seen.end, exitCode } satisfies RunOfChild;
  } finally {
    process.off("exit", end);
    stop.signal.removeEventListener("abort", interrupt);
  }
}

/** Undefined for lines about the directory of the run, which is a copy. */
function shownLine(line: string, copy: string): string | undefined {
  if (/^(Workspace: |Warning: the thread worked in )/.test(line)) return undefined;
  return line.replaceAll(copy, "the copy");
}

function endIn(line: string): Record<string, unknown> | undefined {
  const part: unknown = JSON.parse(line);
  const data = isRecord(part) ? part.data : undefined;
  return isRecord(data) && data.type === "run-end" ? data : undefined;
}

const CHECK_SECONDS = 600;

async function checkOf(
  { number, fork, options, console, stop }: AttemptRequest,
  command = "",
): Promise<ForkCheck> {
  const commands = await commandsIn(fork.directory, options.sandbox, { console, signal: stop.signal });
  try {
    const request = { timeout: CHECK_SECONDS, signal: stop.signal };
    const { exitCode, output } = await commands.execute(command, request);
    const words = exitCode === 0 ? "passes" : `fails with ${exitCode ?? "no exit code"}`;
    console.line(`${number} │ check ${words}: ${safeLine(command, 100)}`);
    return { command, exitCode, output: output.slice(-OUTPUT_CHARACTERS) };
  } finally {
    await commands.close();
  }
}
