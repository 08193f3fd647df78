/** Commands in terminals of the editor. They run as the person, without a sandbox, so each of them is asked about. */
import type { TerminalHandle } from "@agentclientprotocol/sdk";
import { type ExecuteOptions, type ExecuteResponse, SandboxError } from "deepwright";
import type { Commands } from "../commands/commands.ts";
import type { Editor } from "./editor.ts";

const MOST_BYTES = 100_000;
const DEFAULT_SECONDS = 120;
/** As `timeout(1)` says it. */
const TIMED_OUT = 124;

export interface TerminalRequest {
  readonly editor: Editor;
  readonly sessionId: string;
  readonly directory: string;
  /** Called for each terminal that is made. */
  readonly onTerminal: (command: string, terminalId: string) => void;
}

export function terminalCommands(request: TerminalRequest): Commands {
  const running = new Set<TerminalHandle>();
  return {
    kind: "none",
    id: `editor-${request.sessionId}`,
    execute: (command, options) => executed(command, options, request, running),
    note: "Commands run in a terminal of the person's editor. They start in the directory that file paths call `/`: in a command, write `./a/b` for the file `/a/b`.",
    reach: "It runs in a terminal of your editor, as you, with no isolation.",
    line: "Commands: in terminals of the editor, NOT ISOLATED.",
    isWarning: true,
    close: async () => {
      await Promise.all([...running].map((terminal) => terminal.kill().catch(() => undefined)));
    },
  };
}

async function executed(
  command: string,
  { signal, timeout = DEFAULT_SECONDS }: ExecuteOptions = {},
  { editor, sessionId, directory, onTerminal }: TerminalRequest,
  running: Set<TerminalHandle>,
): Promise<ExecuteResponse> {
  signal?.throwIfAborted();
  const terminal = await opened(() =>
    editor.context.createTerminal({
      ...{ sessionId, command: "/bin/sh", args: ["-c", command], cwd: directory },
      outputByteLimit: MOST_BYTES,
    }),
  );
  running.add(terminal);
  onTerminal(command, terminal.id);
  const clock = AbortSignal.timeout(timeout * 1_000);
  const stop = signal ? AbortSignal.any([signal, clock]) : clock;
  try {
    const isStopped = await Promise.race([terminal.waitForExit().then(() => false), aborted(stop)]);
    if (isStopped) await terminal.kill();
    signal?.throwIfAborted();
    const { output, truncated, exitStatus } = await terminal.currentOutput();
    const exitCode = isStopped ? TIMED_OUT : (exitStatus?.exitCode ?? null);
    const ended = isStopped ? "SIGTERM" : exitStatus?.signal;
    return { output, truncated, exitCode, ...(ended && { signal: ended }) };
  } finally {
    running.delete(terminal);
    await terminal.release().catch(() => undefined);
  }
}

async function opened(open: () => Promise<TerminalHandle>): Promise<TerminalHandle> {
  try {
    return await open();
  } catch (cause) {
    const { message = String(cause) } = cause as Partial<Error>;
    throw new SandboxError(`The editor opened no terminal: ${message}`, "SANDBOX_UNAVAILABLE", cause);
  }
}

function aborted(signal: AbortSignal): Promise<true> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(true);
    else signal.addEventListener("abort", () => resolve(true), { once: true });
  });
}
