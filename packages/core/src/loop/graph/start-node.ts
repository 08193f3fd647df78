/** The first node of a run: takes the input, and closes calls that an earlier run left open. */
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import {
  awaitedNodes,
  checkpointerOf,
  graphNamespace,
  type PendingWritesReader,
  readChannel,
  sendWrites,
  type TaskConfig,
  type UnfinishedStep,
  unfinishedStep,
  type Write,
} from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import { RUN_RESULTS } from "../contract/channels.ts";
import { entryNode, goTo, type Loop, mustAskPeople, readMessages, TOOLS_NODE } from "../contract/loop.ts";
import { coerceMessages, type Messages } from "../messages/messages.ts";
import { overwritten } from "../messages/overwrite.ts";
import { DID_NOT_COMPLETE, missingResults } from "../messages/request.ts";
import { withoutUntrustedMarks } from "../messages/untrusted-marks.ts";
import { initialStateWrites } from "../task/initial-state.ts";
import { LoopTask } from "../task/stage-task.ts";
import { updateWrites } from "../task/updates.ts";

/** The checkpoint a run continues from, when it is not the newest. */
export const FORKED_FROM = "__deepwright_forked_from";

export async function runStart(loop: Loop, input: unknown, config: TaskConfig): Promise<void> {
  if ((mustAskPeople(loop) || loop.asksInside) && checkpointerOf(config) === undefined)
    throw new DeepwrightError(
      "CHECKPOINTER_REQUIRED",
      "interruptOn, and permissions that ask, need a checkpointer to wait for a decision.",
      {
        hint: "Pass one, e.g. createDeepAgent({checkpointer: new MemorySaver(), ...}).",
      },
    );
  const task = new LoopTask(loop, config);
  const given = await takeInput(loop, believed(inputValues(loop, input), config), task);
  const incoming = coerceMessages(given.messages);
  const repairs = await closeOpenCalls(loop, readMessages(config), incoming, config);
  const closing = openCallsIn(incoming);
  const written = [
    ...updateWrites(loop, given),
    ...(closing.length > 0 ? [["messages", closing] as Write] : []),
  ];
  const handed = initialStateWrites(loop, config);
  const cleared = RUN_RESULTS.filter((key) => readChannel(config, key) !== undefined);
  const clearing = cleared.map((key): Write => [key, undefined]);
  sendWrites(config, [
    ...handed,
    ...clearing,
    ...task.writes(),
    ...repairs,
    ...written,
    ...goTo(entryNode(loop)),
  ]);
}

function believed(given: Record<string, unknown>, config: TaskConfig): Record<string, unknown> {
  if (given.messages === undefined) return given;
  return { ...given, messages: withoutUntrustedMarks(coerceMessages(given.messages), readMessages(config)) };
}

async function takeInput(
  loop: Loop,
  given: Record<string, unknown>,
  task: LoopTask,
): Promise<Record<string, unknown>> {
  if (given.messages === undefined || !loop.stages.some((stages) => stages.input)) return given;
  let messages: readonly BaseMessage[] = coerceMessages(given.messages);
  for (const stages of loop.stages) if (stages.input) messages = await stages.input(messages, task);
  return { ...given, messages };
}

/** A history a caller hands in may end in the middle of a turn, too. */
function openCallsIn(incoming: Messages): ToolMessage[] {
  const answered = new Set(answeredCalls([["messages", incoming]]));
  return missingResults(incoming).filter((result) => !answered.has(result.tool_call_id));
}

/** Input without unknown keys and private keys: callers cannot set those. */
export function inputValues(loop: Loop, input: unknown): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  if (typeof input !== "object" || input === null) return values;
  for (const key of loop.state.inputKeys)
    if (Object.hasOwn(input, key)) values[key] = (input as Record<string, unknown>)[key];
  return values;
}

/**
 * A new message while calls are open: the engine drops the unfinished step. Results of finished calls are kept; the
 * other calls are closed with a message that says so.
 */
async function closeOpenCalls(
  loop: Loop,
  messages: Messages,
  incoming: Messages,
  config: TaskConfig,
): Promise<Write[]> {
  const answered = new Set(incoming.filter(ToolMessage.isInstance).map((message) => message.tool_call_id));
  const open = missingResults(messages).filter((result) => !answered.has(result.tool_call_id));
  if (open.length === 0) return [];
  const step = await droppedStep(config);
  const wanted = new Set(open.map((result) => result.tool_call_id));
  const finished = step.finished.filter((writes) => answeredCalls(writes).some((id) => wanted.has(id)));
  const kept = finished.flat().filter(([channel]) => Object.hasOwn(loop.state.channels, channel));
  const known = new Set(answeredCalls(kept));
  const closing = open.filter((result) => !known.has(result.tool_call_id));
  for (const result of closing) result.content = closingWords(step);
  return [...kept, ["messages", closing]];
}

function answeredCalls(writes: readonly Write[]): string[] {
  return writes
    .flatMap(([channel, value]) =>
      channel === "messages" ? coerceMessages(overwritten(value)?.value ?? value) : [],
    )
    .filter((message) => ToolMessage.isInstance(message))
    .map((message) => message.tool_call_id);
}

/** Where the tools were under way, it was an agent inside one of them that asked. */
function closingWords({ interrupts, toolsRan }: DroppedStep): string {
  const waited = interrupts.some(({ value }) =>
    Array.isArray((value as { actionRequests?: unknown })?.actionRequests),
  );
  if (waited && !toolsRan)
    return "Tool call was cancelled: a new message came before a person decided about it. It did not run.";
  return `${DID_NOT_COMPLETE} It may have run in part: check before repeating it.`;
}

interface DroppedStep extends UnfinishedStep {
  readonly toolsRan: boolean;
}

async function droppedStep(config: TaskConfig): Promise<DroppedStep> {
  const saver = checkpointerOf(config);
  const thread = config.configurable?.thread_id;
  if (saver === undefined || thread === undefined) return stepOf(undefined);
  const namespace = graphNamespace(config);
  const from = config.configurable?.[FORKED_FROM];
  if (from !== undefined && namespace === "") {
    const origin = { thread_id: thread, checkpoint_ns: namespace, checkpoint_id: from };
    return stepOf(await saver.getTuple({ configurable: origin }));
  }
  const head = await saver.getTuple({ configurable: { thread_id: thread, checkpoint_ns: namespace } });
  // The checkpoint of this run's input may or may not be stored yet; the step we want is the one before.
  const isOwn = head?.checkpoint.id === config.executionInfo?.checkpointId;
  const dropped = isOwn ? head?.parentConfig && (await saver.getTuple(head.parentConfig)) : head;
  return stepOf(dropped);
}

function stepOf(saved: Awaited<ReturnType<PendingWritesReader["getTuple"]>>): DroppedStep {
  const toolsRan = awaitedNodes(saved?.checkpoint).includes(TOOLS_NODE);
  return { ...unfinishedStep(saved?.pendingWrites), toolsRan };
}
