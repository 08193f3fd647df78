/**
 * `fetch` for addresses that come from somebody's configuration: bounded, uncompressed, to one checked place.
 *
 * Node's own `fetch` resolves a name again after it was checked, follows redirects and unpacks what it gets.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { checkedAddress, checkedLookup } from "./checked-address.ts";

export interface GuardedFetchOptions {
  /** Whether addresses of this machine and of private networks may be called, link-local ones aside. */
  readonly allowPrivate: boolean;
  /** Limit of an answer; in a stream of events, of each event. */
  readonly maxBytes: number;
}

export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** A redirect is the caller's to follow, or not. */
export class RedirectError extends Error {
  /** As the server wrote it; it may be relative. */
  readonly location: string | undefined;

  constructor(status: number, location: string | undefined) {
    super(`The server answered with a redirect (${status}), which is not followed.`);
    this.name = "RedirectError";
    this.location = location;
  }
}

/** Rejects for an address that is refused, a redirect, a packed answer; a body that is too long fails while it is read. */
export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  return async (given, init = {}) => {
    const url = checkedAddress(String(given), options.allowPrivate);
    if ("refused" in url) throw new Error(`The url ${url.refused}.`);
    const response = await dial(url, init, options.allowPrivate);
    const { statusCode = 0, headers } = response;
    if (statusCode >= 300 && statusCode < 400 && statusCode !== 304) {
      response.destroy();
      throw new RedirectError(statusCode, headers.location);
    }
    const packed = headers["content-encoding"];
    if (packed !== undefined && packed !== "identity") {
      response.destroy();
      throw new Error(
        `The server sent an encoding that the request did not offer: content-encoding ${packed}.`,
      );
    }
    return webResponse(response, options.maxBytes);
  };
}

function dial(url: URL, init: RequestInit, allowPrivate: boolean): Promise<IncomingMessage> {
  const { method = "GET", body, signal } = init;
  if (body != null && typeof body !== "string") throw new TypeError("The body must be a text.");
  const headers = new Headers(init.headers);
  headers.set("accept-encoding", "identity");
  if (body != null) headers.set("content-length", String(Buffer.byteLength(body)));
  return new Promise((resolve, reject) => {
    const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
      method,
      headers: Object.fromEntries(headers),
      lookup: checkedLookup(allowPrivate) as never,
      ...(signal && { signal }),
      agent: false,
    });
    request.on("response", resolve);
    request.on("upgrade", (_, socket) => {
      socket.destroy();
      reject(new Error("The server asks for another protocol, which the request did not offer."));
    });
    request.on("error", reject);
    // Without an answer and without an error, as some ends of a connection are.
    request.on("close", () => reject(new Error("The server closed the connection without an answer.")));
    request.end(body ?? undefined);
  });
}

const NO_BODY: ReadonlySet<number> = new Set([101, 204, 205, 304]);

function webResponse(message: IncomingMessage, maxBytes: number): Response {
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headers))
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  const status = message.statusCode ?? 0;
  const init = { status, statusText: message.statusMessage ?? "", headers };
  if (NO_BODY.has(status)) {
    message.destroy();
    return new Response(null, init);
  }
  const isEvents = (headers.get("content-type") ?? "").startsWith("text/event-stream");
  const count = isEvents ? eventBytes() : allBytes();
  const body = (Readable.toWeb(message) as ReadableStream<Uint8Array>).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (count(chunk) > maxBytes) throw new Error(`The server sent more than ${maxBytes} bytes at once.`);
        controller.enqueue(chunk);
      },
    }),
  );
  return new Response(body, init);
}

type Count = (chunk: Uint8Array) => number;

function allBytes(): Count {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.byteLength;
    return bytes;
  };
}

/** Since the last empty line, which is where an event ends. */
function eventBytes(): Count {
  let bytes = 0;
  let before = 0;
  return (chunk) => {
    for (const byte of chunk) {
      const isEnd = byte === NEWLINE && before === NEWLINE;
      if (byte !== RETURN) before = byte;
      bytes = isEnd ? 0 : bytes + 1;
    }
    return bytes;
  };
}

const NEWLINE = 10;
const RETURN = 13;
