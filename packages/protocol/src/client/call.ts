/** How routes become functions: types from their schemas. */
import type { z } from "zod";
import { HEADER } from "../headers.ts";
import type { Route } from "../routes/route.ts";
import type { RouteName, RouteOf } from "../routes.ts";
import type { Connection, RawRequest } from "./connection.ts";
import { followStream, type ReconnectOptions, type StreamedEvent } from "./follow-stream.ts";

type Field<R, Name extends string> = R extends { readonly [name in Name]: infer Schema extends z.ZodType }
  ? z.input<Schema>
  : undefined;
/** Body of the route. */
export type BodyOf<Name extends RouteName> = Field<RouteOf<Name>, "body">;
/** Answer of the route; undefined where it answers nothing. */
export type AnswerOf<Name extends RouteName> = RouteOf<Name>["answer"] extends z.ZodType
  ? z.output<RouteOf<Name>["answer"]>
  : undefined;

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export interface StartOptions extends CallOptions {
  /** The same key again, within a day, is answered with the same run. */
  readonly idempotencyKey?: string;
}

export interface StreamOptions extends StartOptions {
  /** Called once the server has named the run, before its first event. */
  readonly onRun?: (run: { readonly runId: string; readonly threadId?: string }) => void;
}

export interface JoinOptions extends CallOptions {
  /** Goes on behind this event; absent: from the first. */
  readonly lastEventId?: string;
  readonly streamMode?: readonly string[];
  readonly cancelOnDisconnect?: boolean;
}

/** Absent bodies are `{}` where the route allows it. */
export type Caller = <Name extends RouteName>(
  name: Name,
  request?: RawRequest & { readonly body?: BodyOf<Name> },
) => Promise<AnswerOf<Name>>;

interface Joining {
  readonly lastEventId: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly reconnect: ReconnectOptions | undefined;
}

/** A stream that GET begins and resumes. */
export function joined(
  connection: Connection,
  route: Route,
  parameters: Readonly<Record<string, string>>,
  query: NonNullable<RawRequest["query"]>,
  untilEnd: boolean,
  { lastEventId, signal, reconnect }: Joining,
): AsyncGenerator<StreamedEvent> {
  const headers = lastEventId === undefined ? undefined : { [HEADER.lastEventId]: lastEventId };
  return followStream({
    connection,
    open: (abort) => connection.request(route, { parameters, query, headers, signal: abort }),
    path: connection.pathOf(route, { parameters, query }),
    runId: parameters.run_id,
    lastEventId,
    untilEnd,
    reconnect,
    signal,
  });
}
