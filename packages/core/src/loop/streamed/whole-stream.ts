/**
 * Puts the pieces of a streamed reply together in linear time.
 *
 * LangChain's `concat` parses the arguments of all calls at every piece, so a long argument in small pieces costs
 * quadratic time. Here the pieces of calls wait among the other fields and are parsed once, at the end.
 */
import { AIMessageChunk, type BaseMessageChunk } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";
import { Slices } from "../../event-loop.ts";

interface RunManager {
  readonly runId: string;
}

/** The arguments of LangChain's `_streamResponseChunks`: the request, its options and the listeners. */
export type StreamArguments = readonly [unknown, { readonly signal?: AbortSignal }?, RunManager?];

/**
 * One chunk for each completion, when the stream has ended. The client reports the pieces to listeners. Without a
 * listener the caller wants the pieces, and gets them.
 */
export async function* wholeStream(
  pieces: AsyncIterable<ChatGenerationChunk>,
  [, options, listener]: StreamArguments,
): AsyncGenerator<ChatGenerationChunk> {
  if (listener === undefined) {
    yield* pieces;
    return;
  }
  const whole = new Map<unknown, ReplyPieces>();
  // Many pieces may have come at once.
  const slices = new Slices();
  for await (const piece of pieces) {
    // The caller looks at the signal too, and throws.
    if (options?.signal?.aborted) break;
    if (piece.message.id == null) piece.message._updateId(`run-${listener.runId}`);
    const completion = piece.generationInfo?.completion ?? 0;
    const known = whole.get(completion);
    if (known === undefined) whole.set(completion, new ReplyPieces(piece));
    else known.add(piece);
    if (slices.isDue) await slices.rest();
  }
  for (const reply of whole.values()) yield reply.whole();
}

/** Where the pieces of calls wait; LangChain merges lists in here as it merges pieces of calls. */
const CALLS = "deepwright_tool_call_chunks";

class ReplyPieces {
  readonly #first: ChatGenerationChunk;
  #sum: ChatGenerationChunk | undefined;

  constructor(first: ChatGenerationChunk) {
    this.#first = first;
  }

  add(piece: ChatGenerationChunk): void {
    this.#sum = (this.#sum ?? withCallsAside(this.#first)).concat(withCallsAside(piece));
  }

  whole(): ChatGenerationChunk {
    if (this.#sum === undefined) return this.#first;
    this.#sum.message = withCalls(this.#sum.message);
    // A listener may have given the first piece another id.
    if (this.#first.message.id != null) this.#sum.message._updateId(this.#first.message.id);
    return this.#sum;
  }
}

/** Seen through an object: listeners hold the piece itself. */
function withCallsAside(piece: ChatGenerationChunk): ChatGenerationChunk {
  const { message } = piece;
  if (!AIMessageChunk.isInstance(message)) return piece;
  const { tool_call_chunks: calls = [], tool_calls, additional_kwargs } = message;
  const seen = Object.create(message, {
    additional_kwargs: { value: { ...additional_kwargs, [CALLS]: calls } },
    tool_call_chunks: { value: [] },
    tool_calls: { value: calls.length === 0 ? tool_calls : [] },
  });
  return Object.create(piece, { message: { value: seen } });
}

function withCalls(message: BaseMessageChunk): BaseMessageChunk {
  const { [CALLS]: calls, ...additional_kwargs } = message.additional_kwargs;
  if (calls === undefined) return message;
  const Chunk = message.constructor as new (fields: object) => BaseMessageChunk;
  return new Chunk({ ...message.lc_kwargs, additional_kwargs, tool_call_chunks: calls });
}
