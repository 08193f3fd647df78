/** The description of one route. The server, the client, the tests, OpenAPI and docs/api.md are made from it. */
import { z } from "zod";
import { identifier } from "../ids.ts";
import type { ProblemCode } from "../problems.ts";
import type { Method } from "./path.ts";

export interface Route {
  /** Unique: `<resource>.<action>`, such as `threads.count`. */
  readonly name: string;
  readonly method: Method;
  /** Each `:name` in it is a field of `parameters`. */
  readonly path: string;
  /** One sentence. */
  readonly summary: string;
  readonly parameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** True when the body may be left out. */
  readonly bodyOptional?: boolean;
  /**
   * The schema of a JSON answer, or: `events`, a stream of server-sent events; `bytes`, a file; `nothing`, no body.
   * `nothing` has the status 204, or 202 when the work goes on. LangGraph's SDK reads JSON from every other status.
   */
  readonly answer: z.ZodType | "events" | "bytes" | "nothing";
  /** For listings: the client sends the answer's header `X-Pagination-Next` in this field to get the next page. */
  readonly pages?: "offset" | "before";
  /** Errors of this route, beside those that every route has (`problemsOf`). */
  readonly problems?: readonly ProblemCode[];
  /** True when callers need no token. */
  readonly open?: boolean;
  /** True when LangGraph's servers have the route too. */
  readonly standard: boolean;
}

/** The schema of `parameters` for a path with these ids. */
export function ids<Name extends string>(...names: readonly Name[]) {
  return z.object(
    Object.fromEntries(names.map((name) => [name, identifier])) as Record<Name, typeof identifier>,
  );
}
