/** The events of a run as they go over the wire: their names, what they carry, and which mode asks for them. */
import { z } from "zod";
import { parseEventName } from "./events/event-name.ts";
import { identifier, metadata } from "./ids.ts";
import { message } from "./messages.ts";
import { agentOutcome, runStatus, type StreamMode } from "./runs.ts";
import { mailKind } from "./thread-work.ts";
import { interrupt } from "./threads.ts";

const state = z.record(z.string(), z.unknown());

export const metadataEvent = z
  .looseObject({
    run_id: identifier,
    thread_id: identifier.optional(),
    attempt: z
      .number()
      .int()
      .optional()
      .describe("Which try of the run this is, from 1; it grows when another worker goes on with it."),
  })
  .describe("Always the first event of a run.");

export const errorEvent = z
  .object({ error: z.string(), message: z.string() })
  .describe("Why a run failed. `error` is a name or code, `message` is for people.");

export const endEvent = z
  .object({
    run_id: identifier.optional(),
    status: runStatus.optional(),
    outcome: agentOutcome.nullish(),
  })
  .nullable()
  .describe("Always the last event of a run; a stream that closes without it was cut and can be resumed.");

const taskEvent = z
  .looseObject({
    id: z.string(),
    name: z.string(),
    interrupts: z.array(interrupt).optional(),
    input: z.unknown().optional(),
    triggers: z.array(z.string()).optional(),
    result: z.unknown().optional(),
    error: z.unknown().optional(),
  })
  .describe("A task of the engine begins, or has ended with a result or an error.");

const toolEvent = z
  .looseObject({
    event: z.enum(["on_tool_start", "on_tool_event", "on_tool_end", "on_tool_error"]),
    toolCallId: z.string().optional(),
    name: z.string(),
  })
  .describe("A tool begins, tells of its work, or has ended.");

export const mailEvent = z
  .object({ id: identifier, kind: mailKind.optional(), message: message.optional() })
  .describe("A message that came while the run went on has reached its agent.");

export const replacedEvent = z
  .object({
    run_id: identifier.optional(),
    by: identifier,
    strategy: z.enum(["interrupt", "rollback"]).optional(),
  })
  .describe("Another run took the thread (`interrupt`) or undid this one (`rollback`). `end` follows.");

/** Data of each kind of event. */
export const eventData = {
  metadata: metadataEvent,
  values: state.describe("The whole state after a step; `__interrupt__` when the run waits."),
  updates: state.describe("Node → what it wrote; `__interrupt__` → those that wait."),
  messages: z
    .tuple([message, metadata])
    .describe("A piece of a message, or a whole one, and where it comes from."),
  "messages/partial": z.array(message).describe("The message so far."),
  "messages/complete": z.array(message).describe("A message as it is at its end."),
  "messages/metadata": z
    .record(z.string(), z.object({ metadata: z.unknown() }))
    .describe("Message id → where it comes from; before its first piece."),
  custom: z.unknown().describe("Any value that a tool wrote."),
  events: z
    .looseObject({ event: z.string(), name: z.string().optional(), data: z.unknown().optional() })
    .describe("An event of LangChain's `streamEvents`."),
  debug: z.unknown().describe("Checkpoints, tasks and results, as the engine sees them."),
  tasks: taskEvent,
  checkpoints: z
    .looseObject({ values: z.unknown(), next: z.array(z.string()) })
    .describe("A checkpoint as it was stored."),
  tools: toolEvent,
  feedback: z.record(z.string(), z.string()).describe("Of other servers; ours sends none."),
  error: errorEvent,
  end: endEvent,
  steer: mailEvent,
  "follow-up": mailEvent.describe("Of other servers; ours sends none: a follow-up is a run of its own."),
  replaced: replacedEvent,
} as const;

export type EventKind = keyof typeof eventData;
export type EventData<Kind extends EventKind> = z.infer<(typeof eventData)[Kind]>;

/** The mode that asks for a kind of event; the others are in every stream. */
export const EVENT_MODE: Partial<Record<EventKind, StreamMode>> = {
  values: "values",
  updates: "updates",
  messages: "messages-tuple",
  "messages/partial": "messages",
  "messages/complete": "messages",
  "messages/metadata": "messages",
  custom: "custom",
  events: "events",
  debug: "debug",
  tasks: "tasks",
  checkpoints: "checkpoints",
  tools: "tools",
};

export function isEventKind(kind: string): kind is EventKind {
  return Object.hasOwn(eventData, kind);
}

/** Whether a reader who asked for these modes gets the event. What is no event of a mode everyone gets. */
export function isEventOfModes(name: string, modes: readonly StreamMode[]): boolean {
  const { kind } = parseEventName(name);
  const mode = isEventKind(kind) ? EVENT_MODE[kind] : undefined;
  return mode === undefined || modes.includes(mode);
}
