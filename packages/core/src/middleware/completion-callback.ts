/** In a subagent that works in the background: tells the thread that started it how its task has ended. */
import { ReducedValue, StateSchema } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { z } from "zod";
import { checkKind, checkNames } from "../check-options.ts";
import { ConfigurationError } from "../errors.ts";
import { checkedHeaders } from "../subagents/async/async-spec.ts";
import { isLive, tasksIn } from "../subagents/async/async-task.ts";
import { serverAt } from "../subagents/async/server-requests.ts";
import { checkedServerUrl } from "../subagents/async/server-url.ts";
import { type CompletionTarget, leadingTo, tellCompletion } from "../subagents/async/tell-completion.ts";

/** null means absent. */
export interface CompletionCallbackOptions {
  /** The graph or assistant of the thread to tell. */
  readonly callbackGraphId: string;
  /** Address of the server that the thread is on; absent: this deployment, through its mailbox. */
  readonly url?: string | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  /** Whether the server may be in a private network; default false. Loopback always may. */
  readonly allowPrivate?: boolean | null;
}

type CallbackState = StateSchema<{ callbackThreadId: ReducedValue<string | undefined, string | undefined> }>;

export type CompletionCallbackMiddleware = AgentMiddleware<CallbackState>;

/**
 * The caller that starts the task puts its thread into `callbackThreadId` of the state; without it no message is sent.
 * A message is sent when a run ends or the model could not be asked, but not while background tasks of the run still
 * work. Our server reports every end until it was received, also of a run that was stopped or whose process died.
 */
export function createCompletionCallbackMiddleware(
  options: CompletionCallbackOptions,
): CompletionCallbackMiddleware {
  const target = targetOf(options);
  return {
    name: "completionCallbackMiddleware",
    stateSchema: callbackState(target),
    afterAgent: (async (state: State, { configurable }: Runtime) => {
      const isWorking = Object.values(tasksIn(state)).some(({ status }) => isLive(status));
      if (!isWorking) await tell(target, state, "success", configurable);
    }) as never,
    wrapModelCall: (async (request: Request, handler: (request: Request) => Promise<unknown>) => {
      try {
        return await handler(request);
      } catch (error) {
        const { state, runtime } = request;
        if (!runtime?.signal?.aborted) await tell(target, state, "error", runtime?.configurable);
        throw error;
      }
    }) as never,
  };
}

function callbackState(target: CompletionTarget): CallbackState {
  const callbackThreadId = new ReducedValue(z.string().optional(), {
    inputSchema: z.string().optional(),
    reducer: leadingTo(target) as never,
  });
  return new StateSchema({ callbackThreadId }) as never;
}

type State = Record<string, unknown>;

interface Runtime {
  readonly configurable?: Record<string, unknown>;
  readonly signal?: AbortSignal;
}

interface Request {
  readonly state: State;
  readonly runtime?: Runtime;
}

async function tell(
  target: CompletionTarget,
  { callbackThreadId: threadId }: State,
  status: "success" | "error",
  configurable: Record<string, unknown> | undefined,
): Promise<void> {
  if (typeof threadId === "string" && threadId !== "")
    await tellCompletion(target, threadId, status, configurable);
}

const OPTION_NAMES = ["callbackGraphId", "url", "headers", "allowPrivate"];

function targetOf(options: CompletionCallbackOptions): CompletionTarget {
  checkNames("createCompletionCallbackMiddleware", options, OPTION_NAMES);
  const { callbackGraphId, url, headers, allowPrivate } = options ?? {};
  checkKind("string", { callbackGraphId, url });
  checkKind("boolean", { allowPrivate });
  if (callbackGraphId == null || callbackGraphId.trim() === "")
    throw new ConfigurationError(
      "INVALID_OPTION",
      "createCompletionCallbackMiddleware needs a 'callbackGraphId'.",
    );
  if (url == null) return { graphId: callbackGraphId };
  const base = checkedServerUrl(callbackGraphId, url, allowPrivate === true);
  return { graphId: callbackGraphId, server: serverAt(base, checkedHeaders(callbackGraphId, headers ?? {})) };
}
