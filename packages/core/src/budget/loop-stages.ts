/** Tells a model that it goes round in circles, and ends the run when it does not stop. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { treeOf } from "../backends/run-tree.ts";
import type { Stages, StageTask } from "../loop/contract/stages.ts";
import type { Messages } from "../loop/messages/messages.ts";
import { endRunWith } from "../loop/task/run-ended-error.ts";
import { type Repetition, repetitionIn } from "./repetition.ts";

/** The channel with the id of the last message to skip: it belongs to an earlier run, or to one that was ended. */
export const LOOKED_THROUGH = "_loop";

export interface LoopLimits {
  /** Rounds after which the model gets a message. */
  readonly notice: number;
  /** Rounds after which the run ends. */
  readonly stop: number;
}

export interface LoopSettings {
  /** For one and the same turn again and again. */
  readonly same: LoopLimits;
  /** For circles of several turns. */
  readonly cycle: LoopLimits;
}

export function createLoopStages(settings: LoopSettings): Stages {
  return {
    input: (messages, task) => {
      const thread = (task.read("messages") as Messages | undefined) ?? [];
      if (messages.length > 0) lookFrom([...thread, ...messages], task);
      return messages;
    },
    turn: (thread, task) => lookAt(thread, task, settings),
  };
}

/** Turns before a new message do not count, nor do turns of a history that the caller passes with it. */
function lookFrom(thread: readonly BaseMessage[], task: StageTask): void {
  const last = thread.findLast((message) => AIMessage.isInstance(message))?.id;
  if (last !== undefined) task.write(LOOKED_THROUGH, last);
}

function lookAt(thread: Messages, task: StageTask, settings: LoopSettings): void {
  const since = task.read(LOOKED_THROUGH) as string | undefined;
  const enough = Math.max(settings.same.stop, settings.cycle.stop);
  const found = repetitionIn(thread, since, enough);
  if (found === undefined) return;
  const limits = found.period === 1 ? settings.same : settings.cycle;
  if (found.rounds >= limits.stop) {
    lookFrom(thread, task);
    endRunWith(task, {
      kind: "loop",
      detail: `The agent was going round in circles: ${wordsFor(found)}.`,
      agentPath: treeOf(task.config).agentPath,
      used: found.rounds,
      allowed: limits.stop,
    });
  }
  if (found.rounds === limits.notice) tell(thread, task, found, limits);
}

/** Once, behind the turn with which it became so: the reminder's place is in the thread. */
function tell(thread: Messages, task: StageTask, found: Repetition, limits: LoopLimits): void {
  const after = thread.at(-1)?.id;
  const start = thread.findLast((message) => AIMessage.isInstance(message))?.id;
  if (after === undefined || start === undefined) return;
  task.remind({ id: `loop-${start}`, after, text: notice(found, limits) });
}

function notice(found: Repetition, { stop }: LoopLimits): string {
  const what = found.tools.length === 0 ? "Repeating it" : "Making the same calls again";
  return `You are going round in circles: ${wordsFor(found)}. ${what} will change nothing. Look at what came back, then try something else, or say what keeps you from going on. After ${stop} times the run is ended.`;
}

function wordsFor({ period, rounds, tools }: Repetition): string {
  if (tools.length === 0)
    return period === 1
      ? `the same reply was given ${rounds} times in a row`
      : `the same ${period} replies were given ${rounds} times in a row`;
  const names = tools.join(", ");
  return period === 1
    ? `the same call (${names}) was made ${rounds} times in a row, with the same result each time`
    : `the same ${period} steps (${names}) were taken ${rounds} times in a row, with the same results each time`;
}
