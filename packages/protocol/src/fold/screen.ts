/** The screen of a thread: plain data, never changed in place, unchanged parts the same objects. */
import type { RunStatus } from "../run-status.ts";
import type { AgentOutcome } from "../runs.ts";

export { isSlowMarkdown } from "./slow-markdown.ts";

export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly total: number;
  /** Tokens of `input` that came from the provider's cache. Absent: none. */
  readonly cached?: number;
}

/**
 * `writing`: the model has not finished the call. `waiting`: it waits for a person. `stopped`: the run ended
 * before it did.
 */
export type CallStatus = "writing" | "running" | "waiting" | "done" | "error" | "stopped";

export interface ShownCall {
  readonly id: string;
  readonly name: string;
  /** Undefined until the model has finished writing them. */
  readonly args: unknown;
  /** As far as the model has written them; empty when they came as a whole. */
  readonly argsText: string;
  readonly status: CallStatus;
  /** Answer of the tool, as text. */
  readonly result?: string;
  /** The last thing the tool reported while it worked. */
  readonly progress?: unknown;
  /** Its number among the pieces of its message, while it is being written. */
  readonly piece?: number | string;
  /** The key in `subagents` of the agent that works on it. */
  readonly subagent?: string;
}

export interface ShownMessage {
  readonly id: string;
  /** `tool` only for a result whose call is not known; others are in their call. */
  readonly role: "user" | "assistant" | "system" | "tool";
  readonly text: string;
  /** Reasoning of the model. */
  readonly reasoning: string;
  /** Content blocks that are neither text nor thought, such as pictures. */
  readonly media: readonly unknown[];
  readonly calls: readonly ShownCall[];
  /** More of it may come. */
  readonly streaming: boolean;
  readonly name?: string;
  readonly usage?: Usage;
  /** The model that wrote it, as its provider names it. */
  readonly model?: string;
}

export interface ShownTodo {
  readonly content: string;
  readonly status: string;
}

export interface ShownFile {
  readonly path: string;
  readonly change: "written" | "deleted";
  /** Text, where it is known. */
  readonly content?: string;
}

export interface ShownAgent {
  /** Empty: the agent of the thread. */
  readonly namespace: readonly string[];
  readonly name?: string;
  readonly status: "running" | "waiting" | "done" | "error" | "stopped";
  readonly messages: readonly ShownMessage[];
  readonly todos: readonly ShownTodo[];
  /** Files written or deleted since the fold began, by path. */
  readonly files: Readonly<Record<string, ShownFile>>;
  /** Output of tools and nodes without the id of a call, the newest last, at most 50. */
  readonly custom: readonly unknown[];
  /** The call of its parent it works on. */
  readonly callId?: string;
}

export interface ShownInterrupt {
  readonly id: string;
  readonly value: unknown;
  /** Namespace of the agent that asks. */
  readonly namespace: readonly string[];
}

export interface ShownRun {
  readonly id?: string;
  readonly threadId?: string;
  /** `idle`: none was seen. */
  readonly status: "idle" | RunStatus;
  readonly error?: { readonly error: string; readonly message: string };
  /** How the agent ended it: `success` alone does not say that the task was done. */
  readonly outcome?: AgentOutcome;
  /** The run that took its place. */
  readonly replacedBy?: string;
}

export interface Screen {
  readonly run: ShownRun;
  readonly main: ShownAgent;
  /** By namespace, its parts joined with `|`. */
  readonly subagents: Readonly<Record<string, ShownAgent>>;
  readonly interrupts: readonly ShownInterrupt[];
  /** Usage of every model call that was seen, once each. */
  readonly usage: Usage;
  /** Channels of the state beside messages, todos and files, as of the last `values`. */
  readonly values: Readonly<Record<string, unknown>>;
  /** For the fold alone. */
  readonly notes: Notes;
}

export interface Notes {
  /** The number of the last event of each run. */
  readonly seen: Readonly<Record<string, number>>;
  /** Where a message of `messages/metadata` belongs, by its id. */
  readonly namespaces: Readonly<Record<string, string>>;
  /** Usage counted for each message, by its id. */
  readonly counted: Readonly<Record<string, Usage>>;
  /** Files of the first `values`, by agent: what was there before. */
  readonly before: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Calls by the task of the engine that works on them: task id → call id. */
  readonly tasks: Readonly<Record<string, string>>;
  /** The tries of the run that were announced. */
  readonly attempt: number;
}

const NO_USAGE: Usage = { input: 0, output: 0, total: 0 };

export function newAgent(namespace: readonly string[]): ShownAgent {
  return { namespace, status: "running", messages: [], todos: [], files: {}, custom: [] };
}

export const emptyScreen: Screen = {
  run: { status: "idle" },
  main: { ...newAgent([]), status: "done" },
  subagents: {},
  interrupts: [],
  usage: NO_USAGE,
  values: {},
  notes: { seen: {}, namespaces: {}, counted: {}, before: {}, tasks: {}, attempt: 0 },
};
