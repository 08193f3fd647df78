/** Refuses commands that the settings deny, in the agent and in every subagent. */
import { ToolMessage } from "@langchain/core/messages";
import type { CommandJudge } from "./command-rules.ts";

interface CallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: unknown };
}

export function commandGuard(judge: CommandJudge) {
  return {
    name: "CommandRulesMiddleware",
    wrapToolCall: <Request extends CallRequest, Result>(
      request: Request,
      handler: (request: Request) => Result,
    ): Result | ToolMessage => {
      const { id = "", name, args } = request.toolCall;
      const { command } = (args ?? {}) as { readonly command?: unknown };
      const verdict = name === "execute" && typeof command === "string" ? judge(command) : undefined;
      if (verdict?.decision !== "deny") return handler(request);
      const content = `Error: The command did not run. ${verdict.reason} Do not reach the same in another way.`;
      return new ToolMessage({ content, tool_call_id: id, name, status: "error" });
    },
  };
}
