/**
 * Assistant messages of another provider, in a form that every provider reads.
 *
 * A reply holds its calls, its thinking and more in the form of its provider. The client of another provider sends them
 * twice, sends content that its provider refuses, or throws. The thread keeps the original; only requests are changed,
 * and each message always in the same way.
 */
import { AIMessage, type BaseMessage, type ContentBlock } from "@langchain/core/messages";
import { MARKS, type Messages } from "../messages/messages.ts";
import { isSilent } from "../messages/request.ts";
import type { ChatModel } from "../providers/model-source.ts";
import { isMediaBlock } from "./request-media-block.ts";
import { CANNOT_TAKE, mediaWords } from "./request-media-words.ts";
import { canRead, type Origin, originOf, type Target, targetOf } from "./request-provider-origin.ts";

/**
 * The same array when the model's own provider made all messages. Messages of the last request are compared, not read
 * again. `options` are the options of the call.
 */
export function requestProvider(
  messages: Messages,
  model: ChatModel,
  options: Readonly<Record<string, unknown>> = {},
): Messages {
  const foreign = foreignPositions(messages, targetOf(model, options));
  if (foreign.length === 0) return messages;
  const list: (BaseMessage | undefined)[] = messages.slice();
  for (const position of foreign) list[position] = neutral(messages[position] as AIMessage);
  return list.filter((message) => message !== undefined);
}

interface Seen {
  readonly messages: Messages;
  readonly key: string;
  readonly foreign: readonly number[];
}

/** By the first message, which all requests of a thread share. */
const lastSeen = new WeakMap<BaseMessage, Seen>();

function foreignPositions(messages: Messages, target: Target): readonly number[] {
  const [first] = messages;
  if (first === undefined) return [];
  const seen = lastSeen.get(first);
  const start = seen?.key === target.key ? sharedLength(seen.messages, messages) : 0;
  const foreign = seen?.foreign.filter((position) => position < start) ?? [];
  for (let i = start; i < messages.length; i += 1)
    if (!canRead(target, originIn(messages[i] as BaseMessage))) foreign.push(i);
  lastSeen.set(first, { messages, key: target.key, foreign });
  return foreign;
}

function sharedLength(before: Messages, now: Messages): number {
  const length = Math.min(before.length, now.length);
  let same = 0;
  while (same < length && before[same] === now[same]) same += 1;
  return same;
}

const origins = new WeakMap<BaseMessage, Origin>();

function originIn(message: BaseMessage): Origin {
  const known = origins.get(message);
  if (known !== undefined) return known;
  const origin = AIMessage.isInstance(message) ? originOf(message) : "plain";
  origins.set(message, origin);
  return origin;
}

interface Neutral {
  readonly content: AIMessage["content"];
  readonly calls: AIMessage["tool_calls"];
  /** Absent: there is nothing in it that others read. */
  readonly message: AIMessage | undefined;
}

const neutrals = new WeakMap<AIMessage, Neutral>();

/** Words and calls alone. */
function neutral(original: AIMessage): AIMessage | undefined {
  const { content, tool_calls: calls } = original;
  const known = neutrals.get(original);
  if (known !== undefined && known.content === content && known.calls === calls) return known.message;
  const made = neutralMessage(original);
  const message = isSilent(made) ? undefined : made;
  neutrals.set(original, { content, calls, message });
  return message;
}

function neutralMessage({ id, name, content, tool_calls, additional_kwargs }: AIMessage): AIMessage {
  const marks = additional_kwargs?.[MARKS];
  const words = typeof content === "string" ? content : wordsOf(content as ContentBlock[]);
  return new AIMessage({
    // OpenAI's client takes an id like this, which others give as well, for the name of something stored there.
    ...(id === undefined || id.startsWith("msg_") ? {} : { id }),
    // Gemini's client gives its replies the name of their role.
    ...(name === undefined || name === "model" ? {} : { name }),
    content: words.trim() === "" ? "" : words,
    tool_calls: (tool_calls ?? []).map((call) => ({
      type: "tool_call" as const,
      name: call.name,
      args: call.args,
      ...(call.id === undefined ? {} : { id: call.id }),
    })),
    additional_kwargs: marks === undefined ? {} : { [MARKS]: marks },
  });
}

/** Words that were cut into blocks are one text again; words with something else between them are lines. */
function wordsOf(blocks: readonly ContentBlock[]): string {
  let words = "";
  let isApart = false;
  for (const block of blocks) {
    const said = textOf(block);
    if (said !== undefined && said !== "") words += isApart && words !== "" ? `\n${said}` : said;
    if (said !== "") isApart = said === undefined;
  }
  return words;
}

const TEXTS = new Set(["text", "text_delta", "output_text"]);

function textOf(block: ContentBlock): string | undefined {
  if (TEXTS.has(block.type)) return typeof block.text === "string" ? block.text : "";
  return isMediaBlock(block) ? mediaWords(block, CANNOT_TAKE).text : undefined;
}
