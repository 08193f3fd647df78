/** Server-sent events: text for the wire, and events from bytes that were cut anywhere. */

/** An event on the wire; `data` is JSON text. */
export interface WireEvent {
  readonly id?: string;
  readonly event: string;
  readonly data: string;
}

/** An event as it was received. */
export interface SseEvent extends WireEvent {
  /** Its own; an event without one does not have that of the one before. */
  readonly id?: string;
  /** Milliseconds to wait before connecting again, when the server says it here. */
  readonly retry?: number;
}

/**
 * A comment that keeps the connection alive. One line end and no empty line: LangGraph's SDK takes an empty line
 * after an id for one more event.
 */
export const HEARTBEAT = ": heartbeat\n";

/**
 * One event, whatever its data say: a line end in the data begins another `data:` line, one in a name or an id
 * is a space. Line separators of Unicode are escaped, since some readers take them for line ends too.
 */
export function encodeEvent({ data, ...event }: WireEvent): string {
  return `${encodeEventHead(event)}${encodeEventData(data)}${EVENT_END}`;
}

/** For an event whose data come in pieces: what stands before them. Behind the last one stands `EVENT_END`. */
export function encodeEventHead({ id, event }: Omit<WireEvent, "data">): string {
  return `${id === undefined ? "" : `id: ${oneLine(id)}\n`}event: ${oneLine(event)}\ndata: `;
}

export const EVENT_END = "\n\n";

function oneLine(text: string): string {
  return text.replace(/[\r\n\0\u0085\u2028\u2029]/g, " ");
}

/** Data, or a piece of them that is not cut between CR and LF. */
export function encodeEventData(data: string): string {
  return data
    .replace(/\r\n|\r|\n/g, "\ndata: ")
    .replace(/[\u0085\u2028\u2029]/g, (end) => `\\u${end.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** More arrived for one event than the reader allows. */
export class SseLimitError extends Error {
  constructor(limit: number) {
    super(`An event of the stream is longer than ${limit} characters.`);
    this.name = "SseLimitError";
  }
}

export interface SseDecoder {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): SseEvent[];
  /** The last id that was given, also by an event that is not complete. */
  readonly lastEventId: string | undefined;
}

export interface SseDecoderOptions {
  /** Characters of one event, its unfinished line included. Default 64 Mi; more throws `SseLimitError`. */
  readonly maxLength?: number;
}

/**
 * Reads bytes in whatever pieces they come: cut within a character, between CR and LF, with a byte order mark.
 * An event that the stream does not finish is never given.
 */
export function createSseDecoder({ maxLength = 64 * 1024 * 1024 }: SseDecoderOptions = {}): SseDecoder {
  const text = new TextDecoder();
  const lines = createLineSplitter(maxLength);
  let fields = emptyFields();
  let lastEventId: string | undefined;

  function take(line: string, events: SseEvent[]): void {
    if (line === "") {
      const { id, event, data, retry } = fields;
      if (event !== undefined || data.length > 0)
        events.push({
          ...(id === undefined ? {} : { id }),
          event: event || "message",
          data: data.join("\n"),
          ...(retry === undefined ? {} : { retry }),
        });
      fields = emptyFields();
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + (line[colon + 1] === " " ? 2 : 1));
    if (name === "event") fields.event = value;
    else if (name === "data") {
      fields.length += value.length + 1;
      if (fields.length > maxLength) throw new SseLimitError(maxLength);
      fields.data.push(value);
    } else if (name === "id") {
      if (value.includes("\0")) return;
      lastEventId = value === "" ? undefined : value;
      fields.id = lastEventId;
    } else if (name === "retry" && /^\d+$/.test(value)) fields.retry = Number(value);
  }

  return {
    push(bytes) {
      const events: SseEvent[] = [];
      for (const line of lines(text.decode(bytes, { stream: true }))) take(line, events);
      return events;
    },
    get lastEventId() {
      return lastEventId;
    },
  };
}

interface Fields {
  id: string | undefined;
  event: string | undefined;
  readonly data: string[];
  retry: number | undefined;
  length: number;
}

function emptyFields(): Fields {
  return { id: undefined, event: undefined, data: [], retry: undefined, length: 0 };
}

/** Whole lines from pieces of text; CR, LF and CRLF end one. Each piece is looked at once. */
function createLineSplitter(maxLength: number): (piece: string) => string[] {
  let parts: string[] = [];
  let length = 0;
  let afterCr = false;
  return (piece) => {
    const lines: string[] = [];
    if (piece === "") return lines;
    let from = 0;
    if (afterCr && piece[0] === "\n") from = 1;
    afterCr = piece.endsWith("\r");
    const ends = /\r\n|\r|\n/g;
    ends.lastIndex = from;
    for (let end = ends.exec(piece); end; end = ends.exec(piece)) {
      parts.push(piece.slice(from, end.index));
      lines.push(parts.length === 1 ? (parts[0] as string) : parts.join(""));
      parts = [];
      length = 0;
      from = ends.lastIndex;
    }
    if (from < piece.length) {
      parts.push(from === 0 ? piece : piece.slice(from));
      length += piece.length - from;
      if (length > maxLength) throw new SseLimitError(maxLength);
    }
    return lines;
  };
}

/** The events of a body until it ends. Leaving the loop lets go of the connection. */
export async function* decodeEvents(
  body: ReadableStream<Uint8Array>,
  options: SseDecoderOptions = {},
): AsyncGenerator<SseEvent, void, undefined> {
  const decoder = createSseDecoder(options);
  const reader = body.getReader();
  let open = true;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        open = false;
        return;
      }
      yield* decoder.push(value);
    }
  } finally {
    // A body that broke cannot be cancelled; that it broke is being thrown already.
    if (open) await reader.cancel().catch(() => {});
    reader.releaseLock();
  }
}
