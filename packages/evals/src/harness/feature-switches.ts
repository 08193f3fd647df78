/** Features of Deepwright that can be switched off, to see which category notices. */
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { createFilesystemMiddleware } from "deepwright";
import { createMiddleware } from "langchain";

export const FEATURES = [
  "offload",
  "repair",
  "edit hints",
  "loop detection",
  "compaction",
  "retries",
] as const;

export type Feature = (typeof FEATURES)[number];

/** Middleware of an agent without these features. */
export function middlewareWithout(features: ReadonlySet<Feature>): object[] {
  return [...features].map((feature) => SWITCHES[feature]());
}

const SWITCHES: Record<Feature, () => object> = {
  offload: () =>
    createFilesystemMiddleware({ toolTokenLimitBeforeEvict: null, humanMessageTokenLimitBeforeEvict: null }),
  repair: dropBrokenCalls,
  "edit hints": dropHints,
  "loop detection": () => ({ LoopDetectionMiddleware: false }),
  compaction: () => ({ SummarizationMiddleware: false }),
  retries: () => ({ ModelRetryMiddleware: false }),
};

/** Calls that do not parse vanish from the reply, as in a harness that only looks at `tool_calls`. */
function dropBrokenCalls(): object {
  return createMiddleware({
    name: "DropBrokenCalls",
    wrapModelCall: async (request, handler) => {
      const reply = await handler(request);
      if (!AIMessage.isInstance(reply) || !reply.invalid_tool_calls?.length) return reply;
      const { content, id, tool_calls, usage_metadata, response_metadata } = reply;
      return new AIMessage({ content, id, tool_calls, usage_metadata, response_metadata });
    },
  });
}

/** Errors of file tools end after their first sentence: what was wrong, without advice. */
function dropHints(): object {
  return createMiddleware({
    name: "DropHints",
    wrapToolCall: async (request, handler) => {
      const result = await handler(request);
      const isFileError =
        ToolMessage.isInstance(result) &&
        result.status === "error" &&
        /^(edit|read)_file$/.test(request.toolCall.name);
      if (!isFileError || typeof result.content !== "string") return result;
      const [first = ""] = result.content.split(/(?<=['"])\.? (?=[A-Z])|\n/);
      const { tool_call_id, name, status } = result;
      return new ToolMessage({ content: first, tool_call_id, name, status });
    },
  });
}
