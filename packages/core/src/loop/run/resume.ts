/** An answer to an interrupt is checked before it is written: a bad one must not harm the thread. */
import { isCommand } from "@langchain/langgraph";
import { isNested, type PendingWritesReader, type TaskConfig, unfinishedStep } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import type { Loop } from "../contract/loop.ts";
import { resumedAtOwnApproval } from "./langchain-approval.ts";

export interface Resumable {
  readonly loop: Loop;
  readonly checkpointer?: unknown;
  readonly config?: { readonly configurable?: Record<string, unknown> };
}

const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** Whether a run answers an interrupt of its thread; runs inside another run do not. */
export function resumesThread(input: unknown, options: ConfigurableOptions): boolean {
  return isCommand(input) && !isNested(options) && (input as { resume?: unknown }).resume !== undefined;
}

/**
 * Throws INVALID_RESUME or NOTHING_TO_RESUME; anything that is not an answer passes. Returns the input, changed for a
 * question that another library asked.
 */
export async function checkResume(graph: Resumable, input: unknown, options: TaskConfig): Promise<unknown> {
  if (!isCommand(input) || isNested(options)) return input;
  const { resume, update, goto } = input as { resume?: unknown; update?: unknown; goto?: unknown };
  if (resume === undefined && (update !== undefined || hasTargets(goto))) return input;
  const saver = graph.checkpointer as PendingWritesReader | undefined;
  if (typeof saver !== "object" || saver === null)
    throw new DeepwrightError("CHECKPOINTER_REQUIRED", "Only an agent with a checkpointer can be resumed.");
  if (resume === undefined || resume === null || resume === false || resume === "" || resume === 0)
    throw new DeepwrightError("INVALID_RESUME", "The resume value is empty.", {
      hint: "Answer with a value, e.g. new Command({resume: {decisions: [...]}}).",
    });
  const configurable = { ...graph.config?.configurable, ...options.configurable };
  const saved = await saver.getTuple({ configurable });
  const { interrupts } = unfinishedStep(saved?.pendingWrites);
  checkAnswer(resume, interrupts);
  return hasTargets(goto) ? input : resumedAtOwnApproval(graph.loop, input, saved, interrupts);
}

interface ConfigurableOptions {
  readonly configurable?: Record<string, unknown>;
}

/**
 * The options without the id of the newest checkpoint, for a run that continues from it (`getState` gives such a
 * config). The engine takes any id as a request to replay, and would run finished calls again.
 */
export async function withoutHeadId<Options extends ConfigurableOptions>(
  graph: Resumable,
  input: unknown,
  options: Options,
): Promise<Options> {
  const { checkpoint_id: id, ...place } = options.configurable ?? {};
  const saver = graph.checkpointer as PendingWritesReader | undefined;
  if (id === undefined || !continuesThread(input) || isNested(options) || typeof saver !== "object")
    return options;
  const head = await saver?.getTuple({ configurable: { ...graph.config?.configurable, ...place } });
  return head?.checkpoint.id === id ? { ...options, configurable: place } : options;
}

/** Whether the run brings nothing new but, perhaps, an answer. */
function continuesThread(input: unknown): boolean {
  if (!isCommand(input)) return input === null || input === undefined;
  const { resume, update, goto } = input as { resume?: unknown; update?: unknown; goto?: unknown };
  return resume !== undefined && update === undefined && !hasTargets(goto);
}

function hasTargets(goto: unknown): boolean {
  return Array.isArray(goto) ? goto.length > 0 : goto !== undefined;
}

function checkAnswer(resume: unknown, pending: readonly { readonly id?: string }[]): void {
  if (pending.length === 0)
    throw new DeepwrightError("NOTHING_TO_RESUME", "This thread waits for no answer.", {
      hint: "It was already answered, or a new message closed the question.",
    });
  const ids = pending.map((interrupt) => interrupt.id ?? "");
  const keys =
    typeof resume === "object" && !Array.isArray(resume) ? Object.keys(resume as object) : undefined;
  if (keys?.length === 0) throw new DeepwrightError("INVALID_RESUME", "The resume value is an empty object.");
  if (keys?.every((key) => INTERRUPT_ID.test(key))) {
    const unknown = keys.filter((key) => !ids.includes(key));
    if (unknown.length > 0)
      throw new DeepwrightError("INVALID_RESUME", `No interrupt with id ${unknown.join(", ")} is pending.`, {
        hint: `Pending: ${ids.join(", ")}.`,
      });
    return;
  }
  if (pending.length > 1)
    throw new DeepwrightError(
      "INVALID_RESUME",
      `${pending.length} interrupts are pending; one value cannot answer them.`,
      {
        hint: `Answer by id: new Command({resume: {"${ids[0]}": …}}). Pending: ${ids.join(", ")}.`,
      },
    );
}
