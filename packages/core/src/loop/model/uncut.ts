/** Asks the model again when its reply broke off on the way: nothing of a broken reply is used. */
import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { ChatPromptValue } from "@langchain/core/prompt_values";
import type { TaskConfig } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import type { Attempt } from "../contract/stages.ts";
import { asReply } from "../failures/missing-role.ts";
import { ofReading, UnreadableReply } from "../failures/unreadable-reply.ts";
import { withStopInfo } from "../messages/stop-info.ts";
import type { BoundModel } from "../providers/model-source.ts";
import { checkedClient } from "../streamed/checked-client.ts";
import { foldedClient } from "../streamed/folded-client.ts";
import { checkClaim } from "../task/claim.ts";
import { observedAsk } from "../task/run-observer.ts";

const ATTEMPTS = 3;
const CUT_CODES = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "ERR_STREAM_PREMATURE_CLOSE"]);
const CUT_WORDS =
  /premature close|socket hang up|^terminated$|other side closed|stream (was )?(cut|ended|closed) /i;

/** The watcher of the attempt (`watch`) also asks again. */
export async function invokeUncut(
  model: BoundModel,
  messages: BaseMessage[],
  config: TaskConfig,
  watch?: Attempt,
): Promise<AIMessage> {
  const input = isChatModel(model) ? new ChatPromptValue(messages) : messages;
  const client = checkedClient(model);
  const asked = client ?? foldedClient(model);
  const watched = watch === undefined ? config : { ...config, signal: watch.signal };
  for (let attempt = 1; ; attempt += 1) {
    await checkClaim(config);
    try {
      return await observedAsk({ model, messages, signal: watched.signal }, config, () =>
        withStopInfo(
          watched,
          async (heard) => asReply(await asked.invoke(input, heard)),
          watch?.heard.bind(watch),
        ),
      );
    } catch (thrown) {
      const error = client === undefined || config.signal?.aborted ? thrown : ofReading(thrown);
      if (watch !== undefined || config.signal?.aborted || !wasCut(error)) throw error;
      if (attempt === ATTEMPTS)
        throw new DeepwrightError(
          "MODEL_CUT_OFF",
          `The model's reply broke off ${ATTEMPTS} times in a row.`,
          {
            cause: error,
            hint: "The thread is unharmed: run it again to go on.",
          },
        );
      await pause(50 * 4 ** (attempt - 1), config.signal);
    }
  }
}

/** LangChain's own models take a prompt value as it is; of a plain list they look at every message. */
function isChatModel(model: BoundModel): boolean {
  const { bound } = model as { bound?: BoundModel };
  if (bound !== undefined) return isChatModel(bound);
  return typeof (model as { _generate?: unknown })._generate === "function";
}

/** A connection that ended inside the reply, as opposed to an answer that says no. */
function wasCut(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, status } = cause as { code?: unknown; status?: unknown };
    if (cause instanceof UnreadableReply || cause instanceof SyntaxError) return true;
    if (typeof status === "number") return false;
    if (CUT_CODES.has(String(code)) || CUT_WORDS.test(cause.message)) return true;
  }
  return false;
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    signal?.addEventListener("abort", finish, { once: true });
  });
}
