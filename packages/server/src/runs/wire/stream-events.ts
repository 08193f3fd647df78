/** Turns a graph's stream into events of the protocol, mode by mode. */

import { formatEventName, type StreamMode } from "@deepwright/protocol";
import { isRecord } from "deepwright/check-options";
import { GrowingMessage, type Piece } from "./growing-message.ts";
import { errorValue } from "./wire-error.ts";

/** One event, its data not yet JSON. */
export interface StreamEvent {
  readonly event: string;
  readonly data: unknown;
}

/** An event of mode `events`. */
export interface EngineEvent {
  readonly event: string;
  readonly run_id: string;
  readonly tags?: readonly string[];
  readonly data: { readonly chunk?: unknown; readonly error?: unknown };
}

export interface StreamShape {
  /** Modes of the engine. */
  readonly modes: readonly string[];
  /** Whether all that happens inside is wanted too. */
  readonly wantsEvents: boolean;
  /** The events one chunk of the engine's stream becomes. */
  events(namespace: readonly string[], mode: string, payload: unknown): readonly StreamEvent[];
}

/** Modes the engine has under the same name. */
const PLAIN = new Set<string>(["values", "updates", "custom", "tasks", "checkpoints", "tools"]);

/** One for each run: the messages of `messages` grow from chunk to chunk. */
export function streamShape(
  requested: readonly StreamMode[],
  /** Whether clients may see this key of the state. */
  isPublic: (key: string) => boolean = () => true,
): StreamShape {
  const wanted = new Set<string>(requested);
  const modes = new Set<string>(requested.filter((mode) => PLAIN.has(mode) || mode === "debug"));
  if (wanted.has("messages") || wanted.has("messages-tuple")) modes.add("messages");
  // The state tells when a message is complete.
  if (wanted.has("messages")) modes.add("values");
  const growing = growingMessages();
  return {
    modes: [...(modes.size > 0 ? modes : ["values"])],
    wantsEvents: wanted.has("events"),
    events(namespace, mode, payload) {
      if (isHalt(payload)) return [];
      const found: StreamEvent[] = [];
      const add = (kind: string, data: unknown, place = namespace) =>
        found.push({ event: formatEventName(kind, place), data });
      if (mode === "messages") {
        // The engine names the node behind the graph; other modes name the graph alone.
        const place = namespace.slice(0, -1);
        if (wanted.has("messages-tuple")) add("messages", payload, place);
        if (wanted.has("messages")) found.push(...growing.chunk(place, payload));
        return found;
      }
      if (mode === "values" && wanted.has("messages")) found.push(...growing.state(namespace, payload));
      if (wanted.has(mode)) add(mode, shown(mode, payload, isPublic));
      return found;
    },
  };
}

/** The engine's marker for a halt before a node, which is not an interrupt. */
function isHalt(payload: unknown): boolean {
  const keys = typeof payload === "object" && payload !== null ? Object.keys(payload) : [];
  if (keys.length !== 1 || keys[0] !== "__interrupt__") return false;
  const { __interrupt__: interrupts } = payload as { __interrupt__: unknown };
  return Array.isArray(interrupts) && interrupts.length === 0;
}

/** `messages/metadata` before the first piece, `messages/partial` with all so far, `messages/complete` once. */
function growingMessages() {
  const soFar = new Map<string, GrowingMessage>();
  const complete = new Set<string>();
  return {
    *chunk(namespace: readonly string[], payload: unknown): Generator<StreamEvent> {
      const [piece, metadata] = payload as [Piece, unknown];
      const { id } = piece;
      if (id === undefined || complete.has(id)) return;
      const known = soFar.get(id);
      if (known === undefined)
        yield { event: formatEventName("messages/metadata", namespace), data: { [id]: { metadata } } };
      if (typeof piece.concat !== "function") {
        complete.add(id);
        soFar.delete(id);
        yield { event: formatEventName("messages/complete", namespace), data: [piece] };
        return;
      }
      const growing = known ?? new GrowingMessage();
      soFar.set(id, growing);
      const whole = growing.add(piece);
      if (whole !== undefined) yield { event: formatEventName("messages/partial", namespace), data: [whole] };
    },
    *state(namespace: readonly string[], payload: unknown): Generator<StreamEvent> {
      const { messages } = (payload ?? {}) as { messages?: unknown };
      if (!Array.isArray(messages)) return;
      const ended = (messages as Piece[]).filter(({ id }) => id !== undefined && soFar.has(id));
      for (const { id } of ended) {
        soFar.delete(id as string);
        complete.add(id as string);
      }
      if (ended.length > 0) yield { event: formatEventName("messages/complete", namespace), data: ended };
    },
  };
}

/** Events such as `on_tool_error` contain a stack trace, which is removed. */
export function shownEvent(event: EngineEvent): EngineEvent {
  if (!event.event.endsWith("_error")) return event;
  return { ...event, data: { ...event.data, error: errorValue(event.data.error) } };
}

interface CheckpointConfig {
  readonly configurable?: Record<string, unknown>;
}

/** Where a state is stored, as clients name it. */
export function checkpointOf(config: CheckpointConfig | undefined): object | null {
  const { thread_id, checkpoint_id, checkpoint_ns, checkpoint_map } = config?.configurable ?? {};
  if (checkpoint_id === undefined) return null;
  return {
    thread_id,
    checkpoint_id,
    checkpoint_ns: checkpoint_ns ?? "",
    checkpoint_map: checkpoint_map ?? null,
  };
}

type IsPublic = (key: string) => boolean;

function shown(mode: string, payload: unknown, isPublic: IsPublic): unknown {
  if (!isRecord(payload)) return payload;
  if (mode === "checkpoints") return checkpointData(payload, isPublic);
  // The mode `debug` has the same field: the time at which the task began or ended.
  if (mode === "tasks") return { ...taskData(payload, isPublic), timestamp: new Date().toISOString() };
  if (mode !== "debug" || !isRecord(payload.payload)) return payload;
  const data = payload.type === "checkpoint" ? checkpointData : taskData;
  return { ...payload, payload: data(payload.payload, isPublic) };
}

function checkpointData(payload: Record<string, unknown>, isPublic: IsPublic): object {
  const { config, parentConfig, values, tasks, ...rest } = payload;
  return {
    ...rest,
    ...(Array.isArray(tasks) && { tasks: tasks.map(withErrorText) }),
    values: publicOf(values, isPublic),
    checkpoint: checkpointOf(config as CheckpointConfig),
    parent_checkpoint: checkpointOf(parentConfig as CheckpointConfig),
  };
}

function withErrorText(task: unknown): unknown {
  return isRecord(task) && task.error !== undefined ? { ...task, error: errorValue(task.error) } : task;
}

function taskData(payload: Record<string, unknown>, isPublic: IsPublic): object {
  const { input, result } = payload;
  return {
    ...(withErrorText(payload) as object),
    ...(input !== undefined && { input: publicOf(input, isPublic) }),
    ...(result !== undefined && { result: publicOf(result, isPublic) }),
  };
}

/** Public values of a state or an update; updates also come as pairs. */
function publicOf(value: unknown, isPublic: IsPublic): unknown {
  if (Array.isArray(value))
    return value.filter((pair) => !Array.isArray(pair) || typeof pair[0] !== "string" || isPublic(pair[0]));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => isPublic(key)));
}
