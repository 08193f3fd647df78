/** JSON requests to one server: bounded in time and size, to that origin only. */
import { DeepwrightError } from "../../errors.ts";
import { headerSecrets, holdSecrets, withoutSecrets } from "../../secrets.ts";

/** Seconds for one request with its answer. */
const TIMEOUT = 30;
/** Largest answer, unpacked. */
const MOST_BYTES = 16 * 1024 * 1024;

export interface ServerRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

export type Server = (request: ServerRequest) => Promise<unknown>;

/** Failures are thrown with the code ASYNC_TASK_FAILED; an abort by the caller's signal with its reason. */
export function serverAt(base: string, headers: Readonly<Record<string, string>>): Server {
  const server: Server = async ({ method, path, body, headers: more, signal }) => {
    const limit = AbortSignal.timeout(TIMEOUT * 1_000);
    try {
      const response = await fetch(`${base}${path}`, {
        method,
        // A redirect could lead the headers anywhere.
        redirect: "manual",
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        headers: {
          accept: "application/json",
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
          ...more,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return await answerOf(response);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof DeepwrightError) throw error;
      throw failed(limit.aborted ? `did not answer within ${TIMEOUT} s` : "cannot be reached", error);
    }
  };
  holdSecrets(server, headerSecrets(headers));
  return server;
}

async function answerOf(response: Response): Promise<unknown> {
  if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel();
    throw failed("answered with a redirect, which is not followed");
  }
  const text = await boundedText(response);
  if (!response.ok)
    throw failed(`answered with status ${response.status}${detailIn(text)}`, new Refusal(response.status));
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw failed("answered with something that is not JSON", cause);
  }
}

async function boundedText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength;
    if (bytes > MOST_BYTES) {
      await reader.cancel();
      throw failed(`sent more than ${MOST_BYTES / 1024 / 1024} MiB`);
    }
    text += decoder.decode(part.value, { stream: true });
  }
  return text + decoder.decode();
}

const DETAIL_LENGTH = 300;

/** Error text of Agent Protocol servers. */
function detailIn(text: string): string {
  try {
    const { detail, message, error } = JSON.parse(text) as Record<string, unknown>;
    const words = [detail, message, error].find((word) => typeof word === "string");
    return words === undefined ? "" : `: ${shownDetail(String(words))}`;
  } catch {
    return "";
  }
}

/** Words of a server that may be shown. */
export function shownDetail(words: string): string {
  return withoutSecrets(words).slice(0, DETAIL_LENGTH);
}

/** The cause of an error that a status was the answer to. */
export class Refusal extends Error {
  constructor(readonly status: number) {
    super(`status ${status}`);
  }
}

/** Whether the server answered that the thing or the route does not exist. */
export function isUnknownThere(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: unknown };
  return cause instanceof Refusal && [404, 405, 501].includes(cause.status);
}

export function failed(problem: string, cause?: unknown): DeepwrightError {
  return new DeepwrightError("ASYNC_TASK_FAILED", `The server of the subagent ${problem}.`, { cause });
}
