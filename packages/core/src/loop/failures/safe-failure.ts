/** Failures on their way into the thread, to storage and to the caller: without secrets. */
import { type MessageContent, ToolMessage } from "@langchain/core/messages";
import { isGraphBubbleUp } from "@langchain/langgraph";
import { redactError, withoutSecrets } from "../../secrets.ts";

/** The given result, or a copy without secrets if it is a failed call that contains one. */
export function withoutSecretsInFailure(result: ToolMessage): ToolMessage {
  if (result.status !== "error") return result;
  const content = cleanContent(result.content);
  if (content === result.content) return result;
  const { id, name, tool_call_id, status, artifact, additional_kwargs, response_metadata } = result;
  const fields = { id, name, tool_call_id, status, artifact, additional_kwargs, response_metadata };
  return new ToolMessage({ ...result.lc_kwargs, ...fields, content } as never);
}

function cleanContent(content: MessageContent): MessageContent {
  if (typeof content === "string") return withoutSecrets(content);
  const blocks = content.map((block) => {
    const { text } = block as { text?: unknown };
    if (typeof text !== "string") return block;
    const clean = withoutSecrets(text);
    return clean === text ? block : { ...block, text: clean };
  });
  return blocks.every((block, i) => block === content[i]) ? content : (blocks as MessageContent);
}

/** Rethrows an error of a node of the loop without secrets: the engine stores the error, and callers print it. */
export function rethrowSafely(error: unknown): never {
  throw error !== null && isGraphBubbleUp(error) ? error : redactError(error);
}
