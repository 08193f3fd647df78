/** `threads bisect`: finds the change of a thread that broke a command. */
import type { BisectChange, BisectResult, BisectTest } from "@deepwright/checkpoint";
import { usageError } from "../command-error.ts";
import { sandboxOptions } from "../commands/sandbox-kind.ts";
import { EXIT } from "../exit-codes.ts";
import { commandsIn, copiesIn } from "../forks/copy-commands.ts";
import { realDirectory } from "../run/directory.ts";
import { count } from "../terminal/amounts.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { Action } from "./actions.ts";
import { stepOf, wholeNumber } from "./amounts.ts";
import { authorText } from "./blame-lines.ts";

const DEFAULT_SECONDS = 600;
const MOST_PATHS = 10;
const OUTPUT_LINES = 20;

export const bisect: Action = async (context, [given = "", ...words]) => {
  const { options, console, signal } = context;
  const command = words.length === 1 ? (words[0] ?? "") : words.map(quotedWord).join(" ");
  if (command.trim() === "") throw usageError("No command was given.", "For example: -- npm test");
  const timeout = options.timeout === undefined ? DEFAULT_SECONDS : wholeNumber(options.timeout, "--timeout");
  const root = await realDirectory(options.in ?? ".");
  const threadId = await context.find(given);
  const threads = await context.threads();
  context.progress.show("Copying the directory…");
  const result = await threads.bisect(threadId, {
    root,
    ...(options.from === undefined ? {} : { from: stepOf(options.from) }),
    ...(options.to === undefined ? {} : { to: stepOf(options.to) }),
    copiesIn: copiesIn(context.around.env),
    signal,
    run: async (directory) => {
      const commands = await commandsIn(directory, sandboxOptions(options), context);
      context.progress.show(`Running ${safeLine(command, 60)}…`);
      return commands.execute(command, { timeout, signal }).finally(() => commands.close());
    },
    onTest: (test) => {
      context.progress.end();
      console.line(testLine(test));
    },
  });
  context.progress.end();
  if (result.outcome !== "found") context.exitCode = EXIT.failed;
  context.print({ threadId, command, ...result }, resultLines(result));
};

/** One word of a shell, whatever is in it. */
function quotedWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function testLine({ number, exitCode, after }: BisectTest): string {
  const state = after === undefined ? "before the first change" : `after ${changeText(after)}`;
  return `${number}. ${exitCode === 0 ? "succeeds" : `fails with ${exitCode}`} ${state}`;
}

function changeText({ by: { step, call } }: BisectChange): string {
  const where = step === undefined ? "the unfinished step" : `step ${step}`;
  return call === undefined ? where : `${where}, call ${safeLine(call, 60)}`;
}

function resultLines(result: BisectResult): string[] {
  return [...outcomeLines(result), ...noteLines(result)];
}

function outcomeLines(result: BisectResult): string[] {
  const output = result.output.trimEnd().split("\n").slice(-OUTPUT_LINES);
  const shown = output.map((line) => `  ${safeLine(line, 200)}`);
  const isSilent = result.output.trim() === "";
  if (result.outcome !== "found")
    return result.outcome === "succeeds"
      ? ["The command succeeds after the last step: nothing broke it."]
      : ["The command fails before the first step already:", ...(isSilent ? ["  (no output)"] : shown)];
  const { by, paths } = result.first;
  const more = paths.length - MOST_PATHS;
  return [
    "The command fails from here on:",
    `  ${authorText(by)}`,
    ...paths.slice(0, MOST_PATHS).map((path) => `  changed ${safeLine(path)}`),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    ...(isSilent ? ["It prints nothing."] : ["It says:", ...shown]),
  ];
}

function noteLines({ conflicts, left }: BisectResult): string[] {
  return [
    ...conflicts.map(({ path }) => `Not in every state: ${safeLine(path)} was changed by others since.`),
    ...(left.length > 0
      ? [`Not copied: ${count(left.length, "entry", "entries")}, such as pipes and sockets.`]
      : []),
  ];
}
