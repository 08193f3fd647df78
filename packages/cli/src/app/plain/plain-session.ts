/** The app as lines, for screen readers and terminals without a cursor: nothing is ever drawn twice. */
import { createInterface } from "node:readline/promises";
import type { ApprovalMode } from "@deepwright/server";
import { Approver } from "../../approval/approver.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { Console } from "../../terminal/console.ts";
import { safeLine } from "../../terminal/safe-text.ts";
import type { RawAppOptions } from "../app-command-line.ts";
import { allCommands } from "../commands/all-commands.ts";
import { submit } from "../commands/submit.ts";
import type { Place } from "../session/place.ts";
import { Session } from "../session/session.ts";
import { threadFor } from "../session/thread-choice.ts";
import { themeOf } from "../view/theme.ts";
import { Transcript } from "../view/transcript.ts";

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
    void (rows.length > 0 && stdout.write(`${rows.join("\n")}\n`));
  let transcript = new Transcript();
  const context = { theme, lineOf: () => undefined };
  const session: Session = new Session(place, directory, mode ?? place.mode ?? "ask", {
    onChange: () => flush(),
    onEnd: () => {},
    onFailure: (words) => write([safeLine(words, 1_000)]),
  });
  const flush = (): void => {
    transcript.follow(session.screen);
    write(transcript.commit(session.screen, Math.max(stdout.columns ?? 80, 40), context));
  };
  write(place.notices);
  const threadId = await threadFor(place, options.raw, directory);
  if (threadId !== undefined) await session.open(threadId);
  const console = new Console(stdout, stdout, environment);
  const never = new AbortController().signal;
  const person = { stdin, stderr: stdout };
  const approver = new Approver(
    { mode: "ask" },
    { console, person, environment, signal: never, controlPaths: place.local?.controlPaths ?? [] },
  );
  for (let isOpen = true; isOpen; ) {
    const reader = createInterface({ input: stdin, output: stdout });
    reader.on("SIGINT", () => reader.close());
    const text = await new Promise<string | undefined>((resolve) => {
      reader.on("close", () => resolve(undefined));
      void reader.question(`${session.mode}> `).then(resolve, () => resolve(undefined));
    });
    reader.close();
    if (text === undefined) break;
    const host = {
      session,
      place,
      theme,
      directory,
      commands: allCommands.filter(({ name }) => name !== "resume" && name !== "rewind"),
      say: (...lines: string[]) => write(lines),
      show: () => write(["This needs the full app."]),
      closePanel: () => {},
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
      await submit(text.trim(), host).catch((error: Error) => write([safeLine(error.message, 1_000)]));
    await session.idle();
    while (session.isWaiting) {
      const reply = await approver.reply(session.screen.interrupts as never, true);
      if (reply.kind === "waits") break;
      await session.answer(reply.answers);
      await session.idle();
    }
  }
  await place.close();
  if (!session.isEmpty) write([`Come back with: deepwright -r ${session.threadId.slice(0, 8)}`]);
  return EXIT.done;
}
