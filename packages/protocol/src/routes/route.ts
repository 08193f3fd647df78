/** One route as data: what tests walk and the reference is made from. */
import { z } from "zod";
import { identifier } from "../ids.ts";
import type { ProblemCode } from "../problems.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export interface Route {
  /** `<resource>.<what it does>`, unique. */
  readonly name: string;
  readonly method: Method;
  /** With `:name` for what `parameters` says. */
  readonly path: string;
  /** One sentence. */
  readonly summary: string;
  readonly parameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Whether the request may come without a body. */
  readonly bodyOptional?: boolean;
  /**
   * A schema of JSON; `events` is a stream of server-sent events, `bytes` a file as it is, `nothing` an answer
   * without a body (204, or 202 for what goes on afterwards: LangGraph's SDK reads JSON from every other status).
   */
  readonly answer: z.ZodType | "events" | "bytes" | "nothing";
  /** A listing: the field that `X-Pagination-Next` of the answer is handed back as for the next page. */
  readonly pages?: "offset" | "before";
  /** Problems beside those of every route: see `problemsOf`. */
  readonly problems?: readonly ProblemCode[];
  /** LangGraph's servers have it too. Others are ours. */
  readonly standard: boolean;
}

/** The names in a path that mean an id. */
export function ids<Name extends string>(...names: readonly Name[]) {
  return z.object(
    Object.fromEntries(names.map((name) => [name, identifier])) as Record<Name, typeof identifier>,
  );
}

/** `/threads/:thread_id` with its names filled in, each one part of the path and no more. */
export function fillPath(path: string, parameters: Readonly<Record<string, string>>): string {
  return path.replace(/:([a-z_]+)/g, (_, name: string) => {
    const value = parameters[name];
    if (!value) throw new TypeError(`The path ${path} needs '${name}'.`);
    if (value === "." || value === "..") throw new TypeError(`'${value}' cannot be a part of a path.`);
    return encodeURIComponent(value);
  });
}
