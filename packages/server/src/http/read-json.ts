/** A request's body as JSON, refused before it can cost much: by type, size, depth and number of values. */
import type { Held } from "./limits/held-bytes.ts";
import { invalid, Problem } from "./problems.ts";

export interface BodyLimits {
  readonly bodyBytes: number;
  /** Objects and lists inside each other. */
  readonly jsonDepth: number;
  /** Members of objects and items of lists, in all of the body. */
  readonly jsonValues: number;
}

/** Undefined when there is no body. `held` counts the bytes as they come. */
export async function readJson(request: Request, limits: BodyLimits, held?: Held): Promise<unknown> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limits.bodyBytes) throw tooLarge(limits);
  if (request.body === null || declared === "0") return undefined;
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== undefined && type !== "application/json") throw wrongType();
  const bytes = await readBytes(request.body, limits, held);
  if (bytes.length === 0) return undefined;
  if (type === undefined) throw wrongType();
  checkShape(bytes, limits);
  return withoutPrototypes(parsed(bytes));
}

async function readBytes(
  body: ReadableStream<Uint8Array>,
  limits: BodyLimits,
  held: Held | undefined,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw invalid("The body did not come to its end.");
      });
      if (done) return Buffer.concat(chunks, size);
      size += value.length;
      if (size > limits.bodyBytes) throw tooLarge(limits);
      held?.add(value.length);
      chunks.push(value);
    }
  } finally {
    reader.releaseLock();
  }
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const OPENS = new Set([0x5b, 0x7b]);
const CLOSES = new Set([0x5d, 0x7d]);

/** One pass over the bytes: the parser is handed nothing deep and nothing with too many parts. */
function checkShape(bytes: Buffer, limits: BodyLimits): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) at = endOfText(bytes, at);
    else if (byte === COMMA) values++;
    else if (OPENS.has(byte)) {
      values++;
      if (++depth > limits.jsonDepth) throw invalid(`The body is nested deeper than ${limits.jsonDepth}.`);
    } else if (CLOSES.has(byte)) depth--;
    if (values > limits.jsonValues) throw invalid(`The body has more than ${limits.jsonValues} values.`);
  }
}

/** Where the text that begins at `start` ends. */
function endOfText(bytes: Buffer, start: number): number {
  for (let at = start + 1; ; ) {
    const end = bytes.indexOf(QUOTE, at);
    if (end === -1) return bytes.length;
    let escapes = 0;
    while (bytes[end - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
    at = end + 1;
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw invalid("The body is not valid JSON.");
  }
}

/** Refuses the one key that means something when objects are merged. Depth is bounded already. */
function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) for (const item of value) withoutPrototypes(item);
  else
    for (const [key, member] of Object.entries(value)) {
      if (key === "__proto__") throw invalid("The key '__proto__' is not allowed.");
      withoutPrototypes(member);
    }
  return value;
}

/** The connection is not closed with it: a client that still sends would see that and never the answer. */
function tooLarge({ bodyBytes }: BodyLimits): Problem {
  return new Problem("TOO_LARGE", `The body is larger than ${bodyBytes} bytes.`);
}

function wrongType(): Problem {
  return new Problem("UNSUPPORTED_MEDIA_TYPE", "The body must be application/json.");
}
