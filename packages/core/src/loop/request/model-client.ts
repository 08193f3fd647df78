/**
 * Clients of providers without their own retries, for one call.
 *
 * LangChain's clients ask again by themselves, up to six times; beneath somebody who asks again that multiplies. What
 * the user gave is not changed.
 */

import type { Outgoing } from "../contract/stages.ts";
import { type ChatModel, innermostModel } from "../providers/model-source.ts";

type Sent = Pick<Outgoing, "model" | "settings">;

/** As it is, where the client has no retries or the caller has said how many. */
export function withoutOwnRetries({ model, settings }: Sent): Sent {
  const client = innermostModel(model);
  if (isGemini(client)) return { model: geminiView(model), settings };
  if (!(retriesOf(client) > 0) || settings.maxRetries !== undefined) return { model, settings };
  return { model, settings: { ...settings, maxRetries: 0 } };
}

function retriesOf(client: ChatModel): number {
  return (client.caller as unknown as { maxRetries?: number } | undefined)?.maxRetries ?? 0;
}

interface Streamed {
  readonly response: Promise<unknown>;
}

interface GeminiSdk {
  generateContentStream(...request: unknown[]): Promise<Streamed>;
}

interface Gemini {
  readonly caller: object;
  readonly client: GeminiSdk;
}

/** Ignores `maxRetries` among the options of a call, though LangChain's contract has it. */
function isGemini(client: ChatModel): boolean {
  return client.getName() === "ChatGoogleGenerativeAI" && "client" in client;
}

const views = new WeakMap<ChatModel, ChatModel>();

/** The same client, seen through an object with a caller that asks once. Both share one queue. */
function geminiView(model: ChatModel): ChatModel {
  const known = views.get(model);
  if (known !== undefined) return known;
  const { bound } = model as unknown as { bound?: ChatModel };
  const { caller } = model as unknown as Gemini;
  const made: ChatModel =
    bound === undefined
      ? Object.create(model, {
          caller: { value: Object.create(caller, { maxRetries: { value: 0 } }) },
          client: { get: () => heeded((model as unknown as Gemini).client) },
        })
      : Object.create(model, { bound: { value: geminiView(bound) } });
  views.set(model, made);
  return made;
}

const heededSdks = new WeakMap<GeminiSdk, GeminiSdk>();

/**
 * The SDK gives a stream and a promise of the whole; LangChain takes the stream alone. When it breaks, the promise
 * fails with nobody listening, which ends a Node process.
 */
function heeded(sdk: GeminiSdk): GeminiSdk {
  const known = heededSdks.get(sdk);
  if (known !== undefined) return known;
  const generateContentStream = async (...request: unknown[]): Promise<Streamed> => {
    const streamed = await sdk.generateContentStream(...request);
    streamed.response.catch(() => undefined);
    return streamed;
  };
  const made: GeminiSdk = Object.create(sdk, { generateContentStream: { value: generateContentStream } });
  heededSdks.set(sdk, made);
  return made;
}
