/** The app as lines, for screen readers and terminals without a cursor: nothing is ever drawn twice. */
import { createInterface } from "node:readline/promises";
import type { ApprovalMode } from "@deepwright/server";
import { Approver } from "../../approval/approver.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { Console } from "../../terminal/console.ts";
import { comeBackWords } from "../../terminal/program-words.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { RawAppOptions } from "../app-command-line.ts";
import { endWords, errorWords, PLAN_WORDS } from "../app-words.ts";
import { allCommands } from "../commands/all-commands.ts";
import { submit } from "../commands/submit.ts";
import { threadItems } from "../commands/thread-items.ts";
import { safeRow } from "../screen/safe-rows.ts";
import type { Place } from "../session/place.ts";
import { Session } from "../session/session.ts";
import { threadFor } from "../session/thread-choice.ts";
import { themeOf } from "../view/theme.ts";
import { Transcript } from "../view/transcript.ts";

/** The terminal wraps lines itself. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

export interface PlainOptions {
  readonly raw: RawAppOptions;
  readonly directory: string;
  readonly mode: ApprovalMode | undefined;
  readonly openPlace: () => Promise<Place>;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly environment: NodeJS.ProcessEnv;
}

export async function runPlain(options: PlainOptions): Promise<ExitCode> {
  const { directory, mode, stdin, stdout, environment } = options;
  const theme = themeOf("dark", false);
  const place = await options.openPlace();
  const write = (rows: readonly string[]): void =>
    void (rows.length > 0 && stdout.write(`${rows.map((row) => safeRow(row, UNLIMITED)).join("\n")}\n`));
  let transcript = new Transcript();
  const context = { theme, lineOf: () => undefined };
  const session: Session = new Session(place, directory, mode ?? place.mode ?? "ask", {
    onChange: () => flush(),
    onEnd: () => {
      const words = endWords(session);
      if (words !== undefined) write([words.text]);
      if (session.mode === "plan" && session.screen.run.status === "success") write([PLAN_WORDS]);
    },
    onFailure: (words) => write([safeLine(words, 1_000)]),
  });
  const flush = (): void => {
    transcript.follow(session.screen);
    write(transcript.commit(session.screen, Math.max(stdout.columns ?? 80, 40), context));
  };
  write([...place.notices, "Enter sends. /help lists commands, Ctrl-C stops the agent, /quit leaves."]);
  const threadId = await threadOf(options, place, write);
  if (threadId !== undefined) await session.open(threadId);
  const console = new Console(stdout, stdout, environment);
  const never = new AbortController().signal;
  const person = { stdin, stderr: stdout };
  const approver = new Approver(
    { mode: "ask" },
    { console, person, environment, signal: never, controlPaths: place.local?.controlPaths ?? [] },
  );
  for (let isOpen = true; isOpen; ) {
    const text = await lineFrom(options, `${session.mode}> `);
    if (text === undefined) break;
    const host = {
      session,
      place,
      theme,
      directory,
      commands: allCommands.filter(({ name }) => !NEEDS_SCREEN.has(name)),
      working: () => () => {},
      say: (...lines: string[]) => write(lines),
      show: () => write(["This needs the full app."]),
      closePanel: () => {},
      changed: () => {},
      confirm: async () => false,
      replay: () => {
        transcript = new Transcript();
      },
      changeModel: async () => write(["Start again with --model to change it."]),
      setText: () => {},
      copy: () => {},
      leave: () => {
        isOpen = false;
      },
    };
    if (text.trim() !== "")
      await stoppable(session, () =>
        submit(text.trim(), host).catch((error: Error) => write([errorWords(error)])),
      );
    while (session.isWaiting) {
      const reply = await approver.reply(session.screen.interrupts as never, true);
      if (reply.kind === "waits") break;
      await stoppable(session, () => session.answer(reply.answers));
    }
  }
  await place.close();
  if (!session.isEmpty)
    write([`Come back with: ${safeLine(comeBackWords(session.threadId, options.raw.connect, environment))}`]);
  return EXIT.done;
}

/** A question about settings of the project, at the terminal. */
export async function askTrustInLines(lines: readonly string[]): Promise<boolean> {
  const [{ confirmed }, { TRUST_QUESTION }] = await Promise.all([
    import("../../terminal/confirm.ts"),
    import("../../run/run-settings.ts"),
  ]);
  process.stdout.write(`${lines.join("\n")}\n`);
  return confirmed(TRUST_QUESTION, process);
}

/** Commands that show a list to choose from, or use the terminal in other ways than lines. */
const NEEDS_SCREEN: ReadonlySet<string> = new Set(["resume", "rewind", "copy", "tasks"]);

/** Undefined: the person leaves. */
function lineFrom({ stdin, stdout }: PlainOptions, prompt: string): Promise<string | undefined> {
  const reader = createInterface({ input: stdin, output: stdout });
  reader.on("SIGINT", () => reader.close());
  return new Promise<string | undefined>((resolve) => {
    reader.on("close", () => resolve(undefined));
    void reader.question(prompt).then(resolve, () => resolve(undefined));
  }).finally(() => reader.close());
}

/** Until no run is at work. Ctrl-C ends the run and not the app. */
async function stoppable(session: Session, act: () => Promise<void>): Promise<void> {
  const stop = (): void => void session.interrupt();
  process.on("SIGINT", stop);
  try {
    await act();
    await session.idle();
  } finally {
    process.off("SIGINT", stop);
  }
}

/** The thread that the command line names, or that the person chooses from a list. */
async function threadOf(
  options: PlainOptions,
  place: Place,
  write: (rows: readonly string[]) => void,
): Promise<string | undefined> {
  const { raw, directory } = options;
  if (raw.resume !== true) return threadFor(place, raw, directory);
  const items = (await threadItems(place, directory)).slice(0, MOST_LISTED);
  if (items.length === 0) return undefined;
  write(items.map(({ label, description }, i) => `${i + 1} ${label} · ${description}`));
  const answer = await lineFrom(options, "Number of the thread, or Enter for a new one: ");
  return items[Number(answer) - 1]?.value;
}

const MOST_LISTED = 20;
