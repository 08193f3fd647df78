/** Data shared by the actions on threads. */
import type { SharedSaver, Threads } from "@deepwright/checkpoint";
import { withoutSecrets } from "deepwright/secrets";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { removeOldCopies } from "../forks/copy-commands.ts";
import { type Database, databaseName, databaseOf, isThere, openDatabase } from "../state/database.ts";
import { findThread } from "../state/find-thread.ts";
import { confirmed } from "../terminal/confirm.ts";
import { Console } from "../terminal/console.ts";
import { Progress } from "../terminal/progress.ts";
import type { RawThreadsOptions } from "./threads-command-line.ts";

/** The environment of a command: the process, except in tests. */
export interface Surroundings {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

export class ThreadsContext {
  readonly console: Console;
  readonly progress: Progress;
  readonly database: Database;
  /** Exit code of the process when nothing is thrown. */
  exitCode: ExitCode = EXIT.done;
  private opened: Promise<SharedSaver> | undefined;

  constructor(
    readonly options: RawThreadsOptions,
    readonly around: Surroundings,
    readonly signal: AbortSignal,
  ) {
    this.console = new Console(around.stdout, around.stderr, around.env);
    this.progress = new Progress(around.stderr);
    this.database = databaseOf(options.db, around.env);
  }

  /** Opened when first asked for. Only `create` makes a database where there is none. */
  async saver(create = false): Promise<SharedSaver> {
    if (!create && !isThere(this.database)) throw nothingThere(this.database);
    this.opened ??= removeOldCopies(this.around.env).then(() => openDatabase(this.database));
    return this.opened;
  }

  async threads(create = false): Promise<Threads> {
    const saver = await this.saver(create);
    const { openThreads } = await import("@deepwright/checkpoint");
    return openThreads(saver);
  }

  /** The whole id of the thread a person named. */
  async find(given: string): Promise<string> {
    return findThread(await this.saver(), given);
  }

  /** Asks unless --yes was given; false when the person says no. */
  async allowed(question: string): Promise<boolean> {
    if (this.options.yes) return true;
    const isAllowed = await confirmed(question, this.around);
    if (!isAllowed) this.console.line("Nothing was changed.");
    return isAllowed;
  }

  /** One line of JSON with --json, else lines of text. */
  print(json: object, lines: readonly string[]): void {
    if (this.options.json) this.console.json(JSON.stringify(json, bytesAsBase64));
    else for (const line of lines) this.console.result(line);
  }

  async close(): Promise<void> {
    this.progress.end();
    const saver = await this.opened?.catch(() => undefined);
    await saver?.close();
  }
}

/** As Node's own JSON of bytes is long and slow. */
function bytesAsBase64(_: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value;
}

function nothingThere(database: Database): CommandError {
  const name = databaseName(database);
  return database.kind === "sqlite" && database.isDefault
    ? usageError(`There are no threads yet: ${name} does not exist.`)
    : usageError(`There is no database at ${name}.`, "Check --db and DEEPWRIGHT_DB.");
}

const WRONG_USAGE = new Set([
  "THREAD_NOT_FOUND",
  "THREAD_EXISTS",
  "INVALID_INPUT",
  "INVALID_ID",
  "INVALID_OPTION",
  "NOT_SUPPORTED",
]);

/** Errors of the library as words with an exit code; what nobody expected stays as it is. */
export function asCommandError(error: unknown, environment: NodeJS.ProcessEnv): unknown {
  const { name, code, message, hint } = (error ?? {}) as Record<string, string | undefined>;
  if (name !== "DeepwrightError" || code === undefined) return error;
  const words = code === "THREAD_BUSY" && hint ? message?.replace(hint, "").trim() : message;
  return new CommandError(withoutSecrets(words ?? code, environment), {
    exitCode: WRONG_USAGE.has(code) ? EXIT.usage : EXIT.failed,
    ...(code === "THREAD_BUSY" ? { hint: "Wait for it to end." } : {}),
    cause: error,
  });
}
