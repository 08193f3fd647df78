/** Why a streamed reply stopped: LangChain tells it to listeners and leaves it out of the message. */
import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import type { AIMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import { isListenedTo, type TaskConfig } from "../../engine/engine.ts";

class StopInfoHandler extends BaseCallbackHandler {
  readonly name = "deepwright_stop_info";
  override awaitHandlers = true;
  info: Record<string, unknown> | undefined;

  constructor(readonly onPiece: (() => void) | undefined) {
    super();
  }

  override handleLLMNewToken(): void {
    this.onPiece?.();
  }

  override handleChatModelStreamEvent(): void {
    this.onPiece?.();
  }

  override handleLLMEnd(output: LLMResult): void {
    this.info = output.generations[0]?.[0]?.generationInfo;
  }
}

/**
 * Replies are streamed only when somebody listens; without a listener nothing is added. `onPiece` is called with
 * each piece of a streamed reply.
 */
export async function withStopInfo(
  config: TaskConfig,
  ask: (config: TaskConfig) => Promise<AIMessage>,
  onPiece?: () => void,
): Promise<AIMessage> {
  if (!isListenedTo(config)) return ask(config);
  const handler = new StopInfoHandler(onPiece);
  const callbacks = CallbackManager.configure(config.callbacks, [handler]);
  const reply = await ask({ ...config, callbacks });
  if (handler.info === undefined) return reply;
  reply.response_metadata = { ...handler.info, ...reply.response_metadata };
  reply.lc_kwargs.response_metadata = reply.response_metadata;
  return reply;
}
