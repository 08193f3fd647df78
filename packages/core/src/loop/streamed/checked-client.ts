/**
 * Clients of providers with a check of each streamed event, before the client makes a message of the events.
 *
 * The view of a client is an object with the client as its prototype, so the caller's object is not changed. The
 * methods are LangChain's; a client that names them differently is not checked.
 */

import {
  anthropicCheck,
  chatCheck,
  type EventCheck,
  geminiCheck,
  responsesCheck,
} from "../failures/reply-events.ts";
import { UnreadableReply, whileReading } from "../failures/unreadable-reply.ts";
import type { BoundModel } from "../providers/model-source.ts";
import { foldedStream } from "./folded-client.ts";

type Client = Record<string, any>;
type NewCheck = () => EventCheck;

const views = new WeakMap<object, object | undefined>();

/** Undefined: of this client nothing is known. */
export function checkedClient(model: BoundModel): BoundModel | undefined {
  if (!views.has(model)) views.set(model, viewOf(model as Client));
  return views.get(model) as BoundModel | undefined;
}

function viewOf(client: Client): object | undefined {
  if (typeof client.bound === "object" && client.bound !== null) {
    const bound = checkedClient(client.bound);
    return bound && view(client, { bound });
  }
  if (typeof client.createStreamWithRetry === "function")
    return view(client, streaming(client, "createStreamWithRetry", anthropicCheck));
  if (typeof client.client?.generateContentStream === "function") return view(client, geminiSdk(client));
  const { completions, responses } = client;
  if (isAsked(completions) && isAsked(responses))
    return view(client, { completions: chatView(completions), responses: responsesView(responses) });
  // By a method that no other has.
  if (typeof client._convertCompletionsDeltaToBaseMessageChunk === "function") return chatView(client);
  return client.constructor.name === "ChatOpenAIResponses" ? responsesView(client) : undefined;
}

function view(client: Client, fields: Client): object {
  const streams = typeof client._streamResponseChunks === "function";
  const all = streams ? { ...fields, _streamResponseChunks: foldedStream(client) } : fields;
  const properties = Object.entries(all).map(([name, value]) => [name, { value, writable: true }] as const);
  return Object.create(client, Object.fromEntries(properties));
}

function isAsked(client: unknown): client is Client {
  return typeof (client as Client | undefined)?.completionWithRetry === "function";
}

const chatView = (client: Client): object =>
  view(client, streaming(client, "completionWithRetry", chatCheck, withAssistant));
const responsesView = (client: Client): object =>
  view(client, streaming(client, "completionWithRetry", responsesCheck));

/** The method of a client that gives a stream of events, or a whole reply. */
function streaming(
  client: Client,
  method: string,
  newCheck: NewCheck,
  whole: (reply: unknown) => unknown = (reply) => reply,
): Client {
  const ask = async (...request: unknown[]): Promise<unknown> => {
    const answer = await client[method](...request);
    return isStream(answer) ? checkedStream(answer, newCheck()) : whole(answer);
  };
  return { [method]: ask };
}

/** Without the role the client drops the calls. */
function withAssistant(reply: unknown): unknown {
  const { choices } = (reply ?? {}) as { choices?: unknown };
  if (Array.isArray(choices))
    for (const choice of choices) if (choice?.message) choice.message.role = "assistant";
  return reply;
}

/** The SDK is looked up at each call: it is made again when the cache of a client changes. */
function geminiSdk(client: Client): Client {
  const generateContentStream = async (...request: unknown[]): Promise<unknown> => {
    const answer = await client.client.generateContentStream(...request);
    return { ...answer, stream: checkedStream(answer.stream, geminiCheck()) };
  };
  return { client: view(client.client, { generateContentStream }) };
}

interface EventStream extends AsyncIterable<unknown> {
  /** Ends the request. */
  readonly controller?: AbortController;
}

function isStream(answer: unknown): answer is EventStream {
  return typeof answer === "object" && answer !== null && Symbol.asyncIterator in answer;
}

function checkedStream(stream: EventStream, check: EventCheck): AsyncIterable<unknown> {
  return Object.assign(checkedEvents(stream, check), { controller: stream.controller });
}

async function* checkedEvents(stream: EventStream, check: EventCheck): AsyncGenerator<unknown> {
  try {
    for await (const event of stream) yield check.event(event);
  } catch (error) {
    throw whileReading(error);
  }
  if (!stream.controller?.signal.aborted && !check.isEnded())
    throw new UnreadableReply("it ended before its end");
}
