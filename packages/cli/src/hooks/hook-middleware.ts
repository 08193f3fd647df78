/** Hooks around tool calls. It stands in the agent and in every subagent. */
import { ToolMessage } from "@langchain/core/messages";
import type { Hooks } from "./hooks.ts";

interface CallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: unknown };
  readonly runtime?: { readonly signal?: AbortSignal };
}

const MOST_CHARACTERS = 100_000;

/** A call that a hook refuses does not run; the model reads the hook's reason. */
export function hookMiddleware(hooks: Hooks) {
  return {
    name: "HooksMiddleware",
    wrapToolCall: async <Request extends CallRequest, Result>(
      request: Request,
      handler: (request: Request) => Promise<Result> | Result,
    ): Promise<Result | ToolMessage> => {
      const { id = "", name, args } = request.toolCall;
      const call = { tool: name, args, callId: id };
      const { signal } = request.runtime ?? {};
      const refused = hooks.refusals.get(id) ?? (await hooks.run("before-tool", call, signal)).refused;
      hooks.refusals.delete(id);
      if (refused !== undefined)
        return new ToolMessage({
          content: `Error: The call of ${name} did not run, a hook refused it: ${refused}`,
          ...{ tool_call_id: id, name, status: "error" as const },
        });
      const result = await handler(request);
      if (!hooks.has("after-tool", name)) return result;
      const after = await hooks.run("after-tool", { ...call, ...resultOf(result) }, signal);
      return after.refused === undefined ? result : withNote(result, after.refused);
    },
  };
}

function resultOf(result: unknown): { readonly result?: string; readonly isError?: boolean } {
  if (!ToolMessage.isInstance(result)) return {};
  return { result: result.text.slice(0, MOST_CHARACTERS), isError: result.status === "error" };
}

/** The call has happened: the words of the hook stand behind its result. */
function withNote<Result>(result: Result, words: string): Result | ToolMessage {
  if (!ToolMessage.isInstance(result) || typeof result.content !== "string") return result;
  return new ToolMessage({
    ...result,
    content: `${result.content}\n\nA hook says: ${words}`,
    tool_call_id: result.tool_call_id,
  } as never);
}
