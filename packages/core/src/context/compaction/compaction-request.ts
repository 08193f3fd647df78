/** The person's newest message when it is no longer in view: quoted whole if there is room. */
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { ChatModel } from "../../loop/providers/model-source.ts";
import { estimateTokens } from "../../tokens.ts";
import { marksOf } from "../message-copy.ts";
import type { Budget } from "../tokens/budget.ts";
import { messageTokens } from "../tokens/token-meter.ts";
import { clipMiddle } from "./shorten.ts";
import { clipToTokens } from "./summarize.ts";
import { textOf } from "./transcript.ts";

export interface KeptRequest {
  /** The text of the request in the summary: the same bytes in every summary. */
  readonly text: string;
  readonly isShortened?: boolean;
  /** Where all of it is; absent: it could not be kept. */
  readonly path?: string;
}

export interface RequestSize {
  /** Message of the thread; absent: there is no newer request than the known one. */
  readonly message: BaseMessage | undefined;
  readonly known: KeptRequest | undefined;
  readonly model: ChatModel;
  readonly budget: Budget;
  /** Tokens left beside everything else. */
  readonly spare: number;
}

/** Words that are shown already are not cut again for a little less room: they would change at every summary. */
const TOLERANCE = 1.5;

/** Tokens reserved for the request, as the model counts. */
export function requestTokens({ message, known, model, budget, spare }: RequestSize): number {
  const { pin, request } = budget;
  if (message === undefined) {
    const size = known === undefined ? 0 : sizeOf(known.text, model);
    return Math.max(pin, size <= request * TOLERANCE ? size : request);
  }
  return Math.max(pin, Math.min(sizeOf(textOf(message), model), request, spare));
}

function sizeOf(text: string, model: ChatModel): number {
  return messageTokens(new HumanMessage(text), model);
}

/** `record` is where the removed messages are. */
export function keptRequest(
  message: BaseMessage,
  tokens: number,
  model: ChatModel,
  record: string | undefined,
): KeptRequest {
  const text = textOf(message);
  const file = marksOf(message)?.offloaded as
    | { readonly path: string; readonly characters: number }
    | undefined;
  // A message that was edited since then is in the record only.
  const path = file?.characters === text.length ? file.path : record;
  return shorterRequest({ text, ...(path !== undefined && { path }) }, tokens, model);
}

/** The same when it has no more tokens than that, or cannot be made shorter. */
export function shorterRequest(request: KeptRequest, tokens: number, model: ChatModel): KeptRequest {
  const size = sizeOf(request.text, model);
  if (size <= tokens) return request;
  const estimate = Math.floor((estimateTokens(request.text) * tokens) / size);
  const text = clipToTokens(request.text, estimate, (all, characters) =>
    clipMiddle(all, characters, () => GAP),
  );
  return text.length < request.text.length ? { ...request, text, isShortened: true } : request;
}

/** Has no number: after a second cut the number would be wrong. */
const GAP = "[… a part is left out here …]";
