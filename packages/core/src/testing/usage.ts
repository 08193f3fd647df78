/** Token counts for replies whose script gives none: four characters are a token. */
import type { AIMessage, BaseMessage, UsageMetadata } from "@langchain/core/messages";

const CHARACTERS_PER_TOKEN = 4;

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Characters of what a provider would be sent for this message. */
export function characters(message: BaseMessage): number {
  const { content } = message;
  const words = typeof content === "string" ? content.length : JSON.stringify(content).length;
  const calls = message.type === "ai" ? ((message as AIMessage).tool_calls ?? []) : [];
  return calls.length === 0 ? words : words + JSON.stringify(calls).length;
}

/**
 * Counts the requests of a growing conversation by reading only what was added since the last one.
 * It trusts that earlier messages did not change as long as the last of them is the same object.
 */
export class RequestMeter {
  private count = 0;
  private length = 0;
  private last: BaseMessage | undefined;

  tokens(messages: readonly BaseMessage[]): number {
    const extended = this.length > 0 && messages[this.length - 1] === this.last;
    if (!extended) {
      this.count = 0;
      this.length = 0;
    }
    for (let i = this.length; i < messages.length; i += 1)
      this.count += characters(messages[i] as BaseMessage);
    this.length = messages.length;
    this.last = messages[messages.length - 1];
    return estimateTokens(this.count);
  }
}

/** The detail objects are always there, because LangChain adds them whenever it sums two usages. */
export function completeUsage(
  given: Partial<UsageMetadata> | undefined,
  estimate: () => { readonly input: number; readonly output: number },
): UsageMetadata {
  const known = given?.input_tokens !== undefined && given.output_tokens !== undefined;
  const estimated = known ? { input: 0, output: 0 } : estimate();
  const input = given?.input_tokens ?? estimated.input;
  const output = given?.output_tokens ?? estimated.output;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: given?.total_tokens ?? input + output,
    input_token_details: { ...given?.input_token_details },
    output_token_details: { ...given?.output_token_details },
  };
}
