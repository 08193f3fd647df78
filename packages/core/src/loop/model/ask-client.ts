/** One request to the client of a model. A reply that broke off is an error: nothing of it is used. */
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { ChatPromptValue } from "@langchain/core/prompt_values";
import type { TaskConfig } from "../../engine/engine.ts";
import type { Attempt } from "../contract/stages.ts";
import { asReply } from "../failures/missing-role.ts";
import { ofReading } from "../failures/unreadable-reply.ts";
import { withStopInfo } from "../messages/stop-info.ts";
import type { BoundModel } from "../providers/model-source.ts";
import { checkedClient } from "../streamed/checked-client.ts";
import { foldedClient } from "../streamed/folded-client.ts";
import { checkClaim } from "../task/claim.ts";
import { observedAsk } from "../task/run-observer.ts";

export async function askClient(
  model: BoundModel,
  messages: BaseMessage[],
  config: TaskConfig,
  attempt: Attempt | undefined,
): Promise<AIMessage> {
  const input = isChatModel(model) ? new ChatPromptValue(messages) : messages;
  const client = checkedClient(model);
  const asked = client ?? foldedClient(model);
  const watched = attempt === undefined ? config : { ...config, signal: attempt.signal };
  await checkClaim(config);
  try {
    return await observedAsk({ model, messages, signal: watched.signal }, config, () =>
      withStopInfo(
        watched,
        async (heard) => asReply(await asked.invoke(input, heard)),
        attempt?.heard.bind(attempt),
      ),
    );
  } catch (error) {
    throw client === undefined || config.signal?.aborted ? error : ofReading(error);
  }
}

/** LangChain's own models take a prompt value as it is; of a plain list they look at every message. */
function isChatModel(model: BoundModel): boolean {
  const { bound } = model as { bound?: BoundModel };
  if (bound !== undefined) return isChatModel(bound);
  return typeof (model as { _generate?: unknown })._generate === "function";
}
