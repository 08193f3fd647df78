/** Runs the commands of one sandbox on this machine, and ends running ones when it is closed. */
import { chmodSync, closeSync, fchownSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type ClosedPaths, type ExecuteOptions, type ExecuteResponse, SandboxError } from "deepwright";
import {
  type CommandLaunch,
  type OutputPipe,
  openOutputPipe,
  type RunCommandOptions,
  runCommand,
} from "deepwright/internal";
import type { ReportedCommand } from "./command-starter.ts";
import { type LeaseDirectory, noteLeaseUse, type Owner } from "./lease/lease-directory.ts";
import { withoutInherited } from "./linux/inherited-descriptors.ts";
import type { Limits } from "./os-options.ts";
import type { SetUpReport } from "./set-up-report.ts";
import { type CommandWatch, watchUsage } from "./usage-watch.ts";

export interface CommandSettings {
  readonly lease: LeaseDirectory;
  /** On this machine. */
  readonly workspace: string;
  /** Without the workspace the sandbox is lost. */
  isThere(): boolean;
  /** Variables of the programs that set the sandbox up, which hand them on. */
  readonly env: Readonly<Record<string, string>>;
  /** Owner of the processes; absent: this user. */
  readonly owner?: Owner;
  /** A file whose content is passed as descriptor 3. */
  readonly filter?: string;
  /** Descriptors of mounts, handed in from `FIRST_PLACE` on. */
  readonly descriptors?: readonly number[];
  /** An empty device, which commands may have open and change as its owner could. */
  readonly emptyDevice: string;
  /** Bounds what runs, soon after it was started. */
  readonly admit?: (pid: number) => void;
  /** Looked at from time to time, where nothing else bounds memory and processes. */
  readonly watched?: Limits;
  readonly timeout: number;
  readonly maxOutputBytes: number;
  /**
   * The words before the shell for one command; call `leave` of the result when the command has ended. Paths of `closed`
   * are relative to the workspace. `isTest`: the command is our self-test.
   */
  enter(isTest: boolean, closed: ClosedPaths): CommandEntry;
}

/** The mode of a directory that others can pass through but not list. */
const PASSAGE = 0o711;
/** Milliseconds. Shorter commands need no limits, and are not slowed down by them. */
const ADMIT_AFTER = 20;

export interface CommandEntry {
  readonly launch: Launcher;
  /** Where another process starts commands for us. */
  readonly begin?: (shell: readonly string[], pipe: OutputPipe) => Promise<ReportedCommand>;
  /** A report for commands that we start ourselves, for their descriptors 4 and 5; absent: no report. */
  readonly openReport?: () => SetUpReport;
  /** Watches the command by the process whose end ends it. */
  readonly watch?: (pid: number) => CommandWatch;
  readonly leave: () => void;
}

const NOTHING_CLOSED: ClosedPaths = { hidden: [], readOnly: [] };

export type Launcher = (shell: readonly string[]) => Pick<CommandLaunch, "program" | "args" | "uid" | "gid">;

export class Commands {
  readonly #settings: CommandSettings;
  readonly #running = new Map<AbortController, Promise<unknown>>();
  #end: SandboxError | undefined;

  constructor(settings: CommandSettings) {
    this.#settings = settings;
  }

  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResponse> {
    return this.#execute(command, options, false);
  }

  /** For a command of ours that tells whether the sandbox holds. */
  async test(command: string, options: ExecuteOptions): Promise<ExecuteResponse> {
    return this.#execute(command, options, true);
  }

  async #execute(command: string, options: ExecuteOptions, isTest: boolean): Promise<ExecuteResponse> {
    const { signal, timeout = this.#settings.timeout, onOutput } = options;
    if (!(timeout > 0))
      throw new SandboxError(`timeout must be more than 0 seconds, not ${timeout}.`, "INVALID_COMMAND");
    signal?.throwIfAborted();
    this.checkThere(timeout);
    const controller = new AbortController();
    const stop = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
    const entry = this.#settings.enter(isTest, options.closed ?? NOTHING_CLOSED);
    const running = this.#run(command, { timeoutSeconds: timeout, signal: stop, onOutput }, entry);
    this.#running.set(controller, running);
    try {
      const response = await running;
      this.checkThere();
      return response;
    } finally {
      this.#running.delete(controller);
    }
  }

  /** Ends running and later commands with `error`. Resolves when none is running. Calling it twice is safe. */
  async close(error: SandboxError): Promise<void> {
    this.#end ??= error;
    const running = [...this.#running];
    for (const [controller] of running) controller.abort(this.#end);
    await Promise.allSettled(running.map(([, command]) => command));
  }

  /** Throws where it has ended. Otherwise it is in use, for so many seconds from now. */
  checkThere(seconds = 0): void {
    if (this.#end !== undefined) throw this.#end;
    if (!noteLeaseUse(this.#settings.lease, seconds) || !this.#settings.isThere()) throw lostSandbox();
  }

  async #run(
    command: string,
    bounds: Pick<RunCommandOptions, "timeoutSeconds" | "signal" | "onOutput">,
    { launch, begin, openReport, watch, leave }: CommandEntry,
  ): Promise<ExecuteResponse> {
    const {
      owner,
      env,
      maxOutputBytes,
      filter,
      emptyDevice,
      watched,
      admit,
      descriptors = [],
    } = this.#settings;
    let opened: number[] = [];
    let report: SetUpReport | undefined;
    const watches: CommandWatch[] = [];
    let admission: NodeJS.Timeout | undefined;
    const closeAll = (): void => {
      for (const descriptor of opened) closeSync(descriptor);
      opened = [];
    };
    const onStart = (pid: number): void => {
      closeAll();
      if (watched !== undefined) watches.push(watchUsage(pid, watched));
      if (watch !== undefined) watches.push(watch(pid));
      if (admit !== undefined) admission = setTimeout(admit, ADMIT_AFTER, pid);
    };
    const begun: RunCommandOptions["begin"] =
      begin &&
      (async (shell, pipe) => {
        const started = await begin(shell, pipe);
        report = started.report;
        onStart(started.begun.pid);
        return started.begun;
      });
    try {
      const response = await runCommand(command, {
        cwd: "/",
        env,
        ...bounds,
        maxOutputBytes,
        openPipe: () => pipeOf(owner),
        ...(begun === undefined ? {} : { begin: begun }),
        launch: (shell) => {
          const input = openSync(emptyDevice, "r");
          opened.push(input);
          if (filter !== undefined) opened.push(openSync(filter, "r"));
          report = openReport?.();
          const given = [...handedOn(opened, report), ...descriptors];
          return { ...launch(shell), input, descriptors: withoutInherited(given, input), onStart };
        },
      });
      return explained(response, watches, report);
    } finally {
      report?.close();
      for (const one of watches) one.stop();
      clearTimeout(admission);
      closeAll();
      leave();
    }
  }
}

/** As 3, 4 and 5: the filter, or what is empty, and what is said of the command. */
function handedOn([input, filter = input]: readonly number[], report: SetUpReport | undefined): number[] {
  if (input === undefined || filter === undefined) return [];
  if (report === undefined) return filter === input ? [] : [filter];
  return [filter, report.descriptor, report.descriptor];
}

/** A command and its starter may open the output by name, so each command has a pipe of its own. */
async function pipeOf(owner: Owner | undefined): Promise<OutputPipe | undefined> {
  const pipe = await openOutputPipe();
  if (pipe === undefined || owner === undefined) return pipe;
  fchownSync(pipe.writeEnd, owner.uid, owner.gid);
  chmodSync(dirname(pipe.path), PASSAGE);
  return pipe;
}

export function lostSandbox(): SandboxError {
  return new SandboxError("The sandbox is gone: it was ended, or its directory removed.", "SANDBOX_LOST");
}

/** Exit codes of `bwrap`, and of shells that cannot set limits or find no program. */
const SET_UP_CODES = [1, 2, 126, 127];

/** Exit code of a command that was killed. */
const KILLED = 137;

/** Words of the programs before the shell are no output of the command. */
function explained(
  response: ExecuteResponse,
  watches: readonly CommandWatch[],
  report: SetUpReport | undefined,
): ExecuteResponse {
  const { exitCode, output } = response;
  const [reason] = watches.flatMap((watch) => watch.exceeded() ?? []);
  const notices = watches.flatMap((watch) => watch.notices?.() ?? []);
  const notes = [...(reason === undefined ? [] : [`ended: ${reason}`]), ...notices];
  if (notes.length > 0)
    return {
      ...response,
      // It may have been quicker than its end.
      exitCode: reason !== undefined && exitCode === 0 ? KILLED : exitCode,
      output: `${output}${output === "" || output.endsWith("\n") ? "" : "\n"}${notes.map((one) => `[${one}]\n`).join("")}`,
    };
  if (report !== undefined && SET_UP_CODES.includes(exitCode ?? 0) && !report.wasRun())
    throw new SandboxError(
      `The command was not run, the sandbox could not be set up: ${output.trim()}`,
      "COMMAND_FAILED",
    );
  return response;
}
