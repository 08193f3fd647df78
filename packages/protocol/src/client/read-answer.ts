/** The answer of a route, checked by its schema. */
import { z } from "zod";
import type { Route } from "../routes/route.ts";
import type { Connection, RawRequest } from "./connection.ts";
import { ProtocolError } from "./protocol-error.ts";

export async function callRoute(connection: Connection, route: Route, raw: RawRequest): Promise<unknown> {
  const response = await connection.request(route, raw);
  return route.answer instanceof z.ZodType
    ? readAnswer(route, route.answer, response, raw.signal)
    : undefined;
}

async function readAnswer(
  route: Route,
  schema: z.ZodType,
  response: Response,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const { status } = response;
  try {
    const body: unknown = status === 204 ? null : await response.json();
    return schema.parse(body);
  } catch (cause) {
    signal?.throwIfAborted();
    const why = cause instanceof z.ZodError ? `: ${z.prettifyError(cause)}` : "";
    throw new ProtocolError(`The answer of ${route.method} ${route.path} has an unexpected form${why}.`, {
      status,
      code: "INVALID_ANSWER",
      cause,
    });
  }
}
