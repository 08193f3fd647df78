import type { ToolMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { BackendProtocol, BackendRuntime, ExecuteResponse } from "../backends/backend.ts";
import { isSandboxProtocol } from "../backends/is-sandbox.ts";
import { SandboxError } from "../backends/sandbox-error.ts";
import { withWorkspaceUse } from "../loop/approval-rules/call-inputs.ts";
import { once } from "../once.ts";
import {
  type BuiltInTool,
  backendRuntime,
  builtInTool,
  failedCall,
  succeededCall,
  type ToolCallRuntime,
} from "./built-in-tool.ts";
import { commandInputs } from "./command-files.ts";
import { lenientObject } from "./lenient-object.ts";

/** Seconds the model may ask for at most. */
export const DEFAULT_MAX_EXECUTE_TIMEOUT = 3600;
/** Most characters of output for the model, even if the backend keeps more. */
const MAX_OUTPUT_CHARACTERS = 200_000;

const schema = once(() =>
  lenientObject(
    {
      command: z.string().describe("For the shell"),
      timeout: z.number().optional().describe("Seconds until it is stopped"),
    },
    { aliases: { cmd: "command" }, numbers: ["timeout"] },
  ),
);

export const EXECUTE_DESCRIPTION =
  "Run a shell command and get its output and exit code. It gets no input, and what it starts in the background ends with it.";

export interface ExecuteToolOptions {
  /** The backend for one call; the model reads an error when it cannot run commands. */
  readonly backend: (runtime: BackendRuntime) => BackendProtocol | Promise<BackendProtocol>;
  /** Replaces our words for the model. */
  readonly description?: string;
  /** Seconds; default 3600. */
  readonly maxTimeout?: number;
}

/** A command that failed is a failed call, with its output; a command that was stopped throws. */
export function createExecuteTool(options: ExecuteToolOptions): BuiltInTool {
  const tool = builtInTool({
    effect: "commands",
    name: "execute",
    schema: schema(),
    description: options.description ?? EXECUTE_DESCRIPTION,
    run: (args, runtime) => execute(args, runtime, options),
  });
  return withWorkspaceUse(tool, {
    inputs: async (args, runtime, signal) => {
      const { data } = schema().safeParse(args);
      if (data === undefined) return { files: [], isOpen: true };
      return commandInputs(data.command, await options.backend(runtime), signal);
    },
  });
}

async function execute(
  { command, timeout }: z.output<ReturnType<typeof schema>>,
  runtime: ToolCallRuntime,
  options: ExecuteToolOptions,
): Promise<unknown> {
  const fail = (text: string) => failedCall("execute", runtime, text);
  const backend = await options.backend(backendRuntime(runtime));
  if (!isSandboxProtocol(backend)) return fail("Error: Commands cannot be run here.");
  if (timeout !== undefined && !(timeout > 0))
    return fail(`Error: timeout must be more than 0 seconds, not ${timeout}`);
  const longest = options.maxTimeout ?? DEFAULT_MAX_EXECUTE_TIMEOUT;
  const seconds = timeout === undefined ? undefined : Math.min(timeout, longest);
  const start = performance.now();
  let response: ExecuteResponse;
  try {
    const report = reporter(runtime);
    response = await backend.execute(command, {
      ...{ timeout: seconds, signal: runtime.signal },
      ...(report && { onOutput: report }),
    });
  } catch (error) {
    if (SandboxError.isInstance(error)) return fail(`Error: ${error.message}`);
    throw error;
  }
  const text = words(response, { took: Math.round(performance.now() - start), longest });
  const hasFailed = response.exitCode !== 0 && response.exitCode !== null;
  return hasFailed ? fail(text) : succeededCall("execute", runtime, text);
}

/** Sends output so far to the stream mode `custom`; undefined if no reader can get it. */
function reporter(runtime: ToolCallRuntime): ((output: string) => void) | undefined {
  const { writer } = runtime as { writer?: (chunk: unknown) => void };
  const toolCallId = runtime.toolCallId ?? runtime.toolCall?.id;
  if (typeof writer !== "function" || toolCallId === undefined) return undefined;
  return (output) => writer({ type: TOOL_OUTPUT, toolCallId, output });
}

/** The `type` of a report of output; clients know it by this name. */
const TOOL_OUTPUT = "tool-output";

interface Timing {
  /** Milliseconds. */
  readonly took: number;
  /** Seconds. */
  readonly longest: number;
}

function words(response: ExecuteResponse, timing: Timing): string {
  const { text, cut } = bounded(response.output);
  const shown = text === "" ? "(no output)\n" : text.endsWith("\n") ? text : `${text}\n`;
  const remark =
    response.truncated || cut
      ? "[The middle of the output was left out: to see all of it, send it to a file]\n"
      : "";
  return `${shown}${remark}[${ending(response, timing)}]`;
}

const SUCCEEDED = "Succeeded: exit code 0";

/** Whether the result says that the command exited with 0. The line about the exit is the last one. */
export function isSuccess({ status, text }: ToolMessage): boolean {
  return status !== "error" && text.endsWith(`[${SUCCEEDED}]`);
}

function ending({ exitCode, signal }: ExecuteResponse, { took, longest }: Timing): string {
  if (exitCode === null) return "Ended; its exit code is not known";
  if (exitCode === 124 && signal !== undefined) {
    const seconds = Math.max(0.1, Math.round(took / 100) / 10);
    return `Stopped after ${seconds} s because its time was up: exit code 124. Ask for a longer timeout (at most ${longest} s) or for less work`;
  }
  if (signal !== undefined) return `Ended by ${signal}: exit code ${exitCode}`;
  return exitCode === 0 ? SUCCEEDED : `Failed: exit code ${exitCode}`;
}

/** NUL becomes visible: not every place that keeps messages can store it. */
function bounded(output: string): { readonly text: string; readonly cut: boolean } {
  const visible = output.replaceAll("\0", "\u2400");
  if (visible.length <= MAX_OUTPUT_CHARACTERS) return { text: visible, cut: false };
  const half = MAX_OUTPUT_CHARACTERS / 2;
  const omitted = visible.length - MAX_OUTPUT_CHARACTERS;
  const head = visible.slice(0, half).replace(/[\uD800-\uDBFF]$/, "");
  const tail = visible.slice(-half).replace(/^[\uDC00-\uDFFF]/, "");
  return { text: `${head}\n[… ${omitted} characters left out …]\n${tail}`, cut: true };
}
