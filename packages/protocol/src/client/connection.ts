/** One request: where it goes, what it carries, what its answer means. */
import { HEADER } from "../headers.ts";
import { fillPath, type Method } from "../routes/path.ts";
import type { Route } from "../routes/route.ts";
import { errorOfResponse, ProtocolError } from "./protocol-error.ts";

/** Answers requests: `fetch` of the platform, or an app of this process. */
export type Fetch = (request: Request) => Response | Promise<Response>;

export interface ConnectionOptions {
  /** Where the server's routes begin. For an app of this process any, such as `http://localhost`. */
  readonly baseUrl: string;
  /** Default: `fetch` of the platform. */
  readonly fetch?: Fetch;
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export type QueryValue = string | number | boolean | readonly string[] | null | undefined;

/** Arguments of a route, after their types were checked. */
export interface RawRequest {
  readonly parameters?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, QueryValue>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface Connection {
  /** An answer of status 2xx; everything else is thrown. A redirect is not followed: it would take the token along. */
  request(route: Pick<Route, "method" | "path">, request: RawRequest): Promise<Response>;
  /** The same for a path that the server named. */
  resume(path: string, request: RawRequest): Promise<Response>;
  /** The path of a route with all it was asked, for `resume`. */
  pathOf(route: Pick<Route, "path">, request: Pick<RawRequest, "parameters" | "query">): string;
  /** A path that the server named, if it lies under its base. */
  ownPath(location: string | null): string | undefined;
}

export function connect(options: ConnectionOptions): Connection {
  const base = new URL(options.baseUrl);
  const root = `${base.origin}${base.pathname.replace(/\/+$/, "")}`;
  const answer: Fetch = options.fetch ?? ((request) => globalThis.fetch(request));

  async function send(
    method: Method,
    place: string,
    { body, headers, signal }: RawRequest,
  ): Promise<Response> {
    signal?.throwIfAborted();
    const asked = new Request(`${root}${place}`, {
      method,
      headers: {
        accept: "application/json, text/event-stream",
        ...options.headers,
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      redirect: "error",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    let response: Response;
    try {
      response = await unlessAborted(answer(asked), signal);
    } catch (cause) {
      signal?.throwIfAborted();
      throw new ProtocolError(`The server at ${root} could not be reached.`, {
        status: 0,
        code: "UNREACHABLE",
        cause,
      });
    }
    if (!response.ok) throw await errorOfResponse(response);
    return response;
  }

  const pathOf: Connection["pathOf"] = ({ path }, { parameters = {}, query = {} }) =>
    fillPath(path, parameters) + writeQuery(query);
  const request: Connection["request"] = (route, raw) => send(route.method, pathOf(route, raw), raw);

  return {
    request,
    pathOf,
    resume: (path, raw) => send("GET", path, raw),
    ownPath(location) {
      if (location === null) return undefined;
      if (/^\/(?![/\\])/.test(location)) return location;
      return location.startsWith(`${root}/`) ? location.slice(root.length) : undefined;
    },
  };
}

/** An app of this process may know nothing of signals: the caller is released, and an answer that comes later is closed. */
async function unlessAborted(
  answer: Response | Promise<Response>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  if (!signal || answer instanceof Response) return answer;
  let letGo = () => {};
  const aborted = new Promise<never>((_, reject) => {
    letGo = () => reject(signal.reason);
    signal.addEventListener("abort", letGo, { once: true });
  });
  answer.then(
    (late) => (signal.aborted ? late.body?.cancel() : undefined),
    () => {},
  );
  try {
    return await Promise.race([answer, aborted]);
  } finally {
    signal.removeEventListener("abort", letGo);
  }
}

/** As the server reads it: a list is one name several times, nothing is left out. */
function writeQuery(query: Readonly<Record<string, QueryValue>>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) parameters.append(name, String(one));
  }
  const text = parameters.toString();
  return text === "" ? "" : `?${text}`;
}

/** The run an answer is about, as `Content-Location` says. */
export function runOfResponse(response: Response): { runId: string; threadId?: string } | undefined {
  const match = /(?:\/threads\/([^/?]+))?\/runs\/([^/?]+)/.exec(
    response.headers.get(HEADER.contentLocation) ?? "",
  );
  if (!match) return undefined;
  const [, threadId, runId = ""] = match;
  return {
    runId: decodeURIComponent(runId),
    ...(threadId === undefined ? {} : { threadId: decodeURIComponent(threadId) }),
  };
}
