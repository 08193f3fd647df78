/** Turns of a scripted model, and how one becomes a reply. */
import { AIMessage, type ContentBlock, type UsageMetadata } from "@langchain/core/messages";

/** A tool call of a scripted turn. */
export interface ScriptedCall {
  /** May be empty: real models send that too. */
  readonly name: string;
  /** Any JSON value; `{}` when absent. What is no object arrives the way providers deliver it. */
  readonly args?: unknown;
  /** The argument text exactly as the model wrote it, broken or not; instead of `args`. */
  readonly rawArgs?: string;
  /** Absent: the model invents one. `null`: the call comes without an id. */
  readonly id?: string | null;
}

/** One turn, field by field. Every field may be left out; an empty object is an empty reply. */
export interface ScriptedTurn {
  readonly text?: string;
  /** Content blocks, instead of `text`. */
  readonly content?: readonly ContentBlock[];
  readonly toolCalls?: readonly ScriptedCall[];
  /** `"tool_calls"` when there are calls, else `"stop"`, unless `responseMetadata` has a reason of its own. */
  readonly finishReason?: string;
  /** Absent numbers are estimated. */
  readonly usage?: Partial<UsageMetadata>;
  readonly responseMetadata?: Readonly<Record<string, unknown>>;
  readonly additionalKwargs?: Readonly<Record<string, unknown>>;
  /** The message's id; absent means that the caller of the model must give one. */
  readonly id?: string;
  /** Milliseconds before this reply, instead of the model's `latency`. */
  readonly latency?: number;
  readonly cut?: StreamCut;
  /** Never answers; only an abort ends the call. */
  readonly never?: boolean;
}

/** Where a stream breaks off. */
export interface StreamCut {
  /** How many chunks still arrive. */
  readonly after: number;
  /** The stream ends as if it were complete, instead of throwing. */
  readonly silently?: boolean;
}

/** A turn that says something, as opposed to an error. */
export type Reply = string | ScriptedTurn | AIMessage;
/** One answer of a scripted model: words, calls, a whole message, or an error to throw. */
export type Turn = Reply | Error;

/** A text reply. */
export function say(text: string): ScriptedTurn {
  return { text };
}

/** A reply that calls one tool. `id: null` leaves the id out. */
export function callTool(name: string, args: unknown = {}, id?: string | null): ScriptedTurn {
  return { toolCalls: [id === undefined ? { name, args } : { name, args, id }] };
}

const FIELDS: ReadonlySet<string> = new Set<keyof ScriptedTurn>([
  "text",
  "content",
  "toolCalls",
  "finishReason",
  "usage",
  "responseMetadata",
  "additionalKwargs",
  "id",
  "latency",
  "cut",
  "never",
]);

/** The same turn as fields. A value that is no turn is refused with the call's number. */
export function asTurn(turn: Reply, position = "this turn"): ScriptedTurn {
  if (typeof turn === "string") return { text: turn };
  if (AIMessage.isInstance(turn)) return fromMessage(turn);
  if (typeof turn !== "object" || turn === null)
    throw new TypeError(
      `Expected ${position} to be a string, a turn, an AIMessage or an Error, but it is ${turn}.`,
    );
  const unknown = Object.keys(turn).find((field) => !FIELDS.has(field));
  if (unknown !== undefined)
    throw new TypeError(
      `Unknown field '${unknown}' in ${position}. A turn may have: ${[...FIELDS].join(", ")}.`,
    );
  return turn;
}

function fromMessage(message: AIMessage): ScriptedTurn {
  const sound = (message.tool_calls ?? []).map(({ name, args, id }) => ({ name, args, id: id ?? null }));
  const broken = (message.invalid_tool_calls ?? []).map(({ name, args, id }) => ({
    name: name ?? "",
    rawArgs: args ?? "",
    id: id ?? null,
  }));
  return {
    ...(typeof message.content === "string" ? { text: message.content } : { content: message.content }),
    toolCalls: [...sound, ...broken],
    usage: message.usage_metadata,
    responseMetadata: message.response_metadata,
    additionalKwargs: message.additional_kwargs,
    id: message.id,
  };
}

/** A call as the wire carries it: arguments are text, and the text may not parse. */
export interface WireCall {
  readonly name: string;
  readonly id: string | undefined;
  readonly json: string;
}

/** `newId` is asked once for each call that names no id. */
export function wireCalls(turn: ScriptedTurn, newId: () => string): WireCall[] {
  return (turn.toolCalls ?? []).map((call) => ({
    name: call.name,
    id: call.id === undefined ? newId() : (call.id ?? undefined),
    json: call.rawArgs ?? JSON.stringify(call.args ?? (call.args === null ? null : {})),
  }));
}

const REASON_FIELDS = ["finish_reason", "stop_reason", "finishReason", "stopReason", "done_reason"];

/** The reply's `response_metadata`: a model name and exactly one reason to stop. */
export function responseMetadata(turn: ScriptedTurn, modelName: string): Record<string, unknown> {
  const given = turn.responseMetadata ?? {};
  const usual = (turn.toolCalls ?? []).length > 0 ? "tool_calls" : "stop";
  const silent = turn.finishReason === undefined && REASON_FIELDS.some((field) => field in given);
  return {
    model_name: modelName,
    ...given,
    ...(silent ? {} : { finish_reason: turn.finishReason ?? usual }),
  };
}
