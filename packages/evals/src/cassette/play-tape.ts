/** Plays a tape: Deepwright's loop with the recorded replies and the recorded results of tools. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { type DynamicStructuredTool, tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent, createModelRetryMiddleware } from "deepwright";
import { fault, type ScriptedRequest, type ScriptedTurn, scriptedModel, type Turn } from "deepwright/testing";
import { z } from "zod";
import { BUILT_IN_TOOLS } from "../verifiers/verifier.ts";
import type { RecordedReply, Tape } from "./cassette.ts";

/** Something that goes wrong once while a tape is played. `request` counts from 1; absent: in the middle. */
export type TapeFault =
  | { readonly kind: "rate-limit" | "cut-stream" | "crash"; readonly request?: number }
  | { readonly kind: "killed-tool" };

export interface PlayOptions {
  /** Called before a request is answered, with its number from 0. An error that it throws ends the play. */
  readonly onRequest?: (index: number, request: ScriptedRequest) => void;
  readonly fault?: TapeFault;
}

export interface Played {
  /** Messages of the thread, one line each: who speaks, and the calls or the text. */
  readonly outline: readonly string[];
  /** Requests that were answered. */
  readonly requests: number;
}

export async function playTape(tape: Tape, options: PlayOptions = {}): Promise<Played> {
  return new Player(tape, options).play();
}

/** The reply to a request behind the last recorded one of a run, such as one that was interrupted. */
const NO_MORE = "(The recording ends here.)";

const CONFIG = { configurable: { thread_id: "cassette" }, recursionLimit: 10_000 };

class Player {
  readonly #tape: Tape;
  readonly #options: PlayOptions;
  readonly #saver = new MemorySaver();
  readonly #stop = new AbortController();
  readonly #fails: number;
  #hasFailed = false;
  #problem: unknown;
  #replies: RecordedReply[] = [];
  #requests = 0;
  #crash: (() => void) | undefined;

  constructor(tape: Tape, options: PlayOptions) {
    this.#tape = tape;
    this.#options = options;
    const total = tape.segments.reduce((sum, { replies }) => sum + replies.length, 0);
    const given =
      options.fault !== undefined && "request" in options.fault ? options.fault.request : undefined;
    this.#fails = Math.min(total, given ?? Math.ceil(total / 2)) - 1;
  }

  async play(): Promise<Played> {
    try {
      let state: unknown;
      for (const { messages, replies } of this.#tape.segments) {
        this.#replies = [...replies];
        state = await this.#run({ messages: messages.map((text) => new HumanMessage(text)) });
      }
      return { outline: outlineOf(state), requests: this.#requests };
    } finally {
      this.#stop.abort();
    }
  }

  /** After a crash another agent goes on with what was stored. */
  async #run(input: unknown): Promise<unknown> {
    const crashed = new Promise<"crashed">((resolve) => {
      this.#crash = () => resolve("crashed");
    });
    const running = this.#invoke(input);
    running.catch(() => {});
    const end = await Promise.race([running, crashed]).catch((error) => error);
    if (this.#problem !== undefined) throw this.#problem;
    if (end === "crashed") return this.#run(null);
    return running;
  }

  #invoke(input: unknown): Promise<unknown> {
    const agent = createDeepAgent({
      model: this.#model,
      tools: toolsOf(this.#tape),
      checkpointer: this.#saver,
      middleware: [
        createModelRetryMiddleware({ firstWait: 0, jitter: false }),
        { name: "RecordedResults", wrapToolCall: (request: ToolRequest) => this.#result(request) },
      ] as never,
    });
    return agent.invoke(
      input as never,
      { ...CONFIG, signal: this.#stop.signal, durability: "sync" } as never,
    );
  }

  readonly #model = scriptedModel((request) => this.#answer(request), { record: false });

  #answer(request: ScriptedRequest): Turn {
    if (this.#problem !== undefined) throw this.#problem;
    const { fault: given } = this.#options;
    const fails = given !== undefined && !this.#hasFailed && this.#requests === this.#fails;
    if (fails && given.kind !== "killed-tool") {
      this.#hasFailed = true;
      if (given.kind === "rate-limit") return fault.rateLimit({ retryAfter: 0 });
      if (given.kind === "cut-stream")
        return fault.cutStream({ after: 0, turn: this.#turn(this.#replies[0]) });
      this.#crash?.();
      return { never: true };
    }
    try {
      this.#options.onRequest?.(this.#requests, request);
    } catch (error) {
      this.#problem = error;
      throw error;
    }
    this.#requests += 1;
    return this.#turn(this.#replies.shift());
  }

  #turn(reply: RecordedReply | undefined): ScriptedTurn {
    if (reply === undefined) return { text: NO_MORE };
    const { id, text, calls, finishReason } = reply;
    const toolCalls = calls.map(({ rawArgs, args, ...call }) => ({
      ...call,
      ...(rawArgs === undefined ? { args } : { rawArgs }),
    }));
    return {
      text,
      toolCalls,
      ...(id === undefined ? {} : { id }),
      ...(finishReason === undefined ? {} : { finishReason }),
    };
  }

  #result({ toolCall: { id = "", name } }: ToolRequest): ToolMessage {
    if (this.#options.fault?.kind === "killed-tool" && !this.#hasFailed) {
      this.#hasFailed = true;
      return new ToolMessage({
        content: "Error: The tool was killed.",
        status: "error",
        name,
        tool_call_id: id,
      });
    }
    const recorded = this.#tape.results[id];
    const content = recorded?.text ?? "Error: The recording has no result of this call.";
    const status = recorded === undefined || recorded.failed ? "error" : "success";
    return new ToolMessage({ content, status, name, tool_call_id: id });
  }
}

interface ToolRequest {
  readonly toolCall: { readonly id?: string; readonly name: string };
}

/** Stand-ins for tools that the thread called and that a plain agent does not have. They never run. */
function toolsOf({ segments }: Tape): DynamicStructuredTool[] {
  const called = segments.flatMap(({ replies }) =>
    replies.flatMap(({ calls }) => calls.map(({ name }) => name)),
  );
  const known = new Set(BUILT_IN_TOOLS.filter((name) => name !== "execute"));
  const names = [...new Set(called)].filter((name) => name !== "" && !known.has(name)).sort();
  return names.map((name) =>
    tool(() => "", {
      name,
      description: `The tool ${name} of the recorded thread.`,
      schema: z.looseObject({}),
    }),
  ) as unknown as DynamicStructuredTool[];
}

function outlineOf(state: unknown): string[] {
  const { messages = [] } = (state ?? {}) as {
    messages?: readonly { type: string; text: string; tool_calls?: { name: string }[]; status?: string }[];
  };
  return messages.map(({ type, text, tool_calls: calls = [], status }) =>
    [type, status === "error" ? "failed" : "", calls.map(({ name }) => name).join(" "), text.slice(0, 200)]
      .filter((part) => part !== "")
      .join(" · "),
  );
}
