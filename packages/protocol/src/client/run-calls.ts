import { HEADER } from "../headers.ts";
import { routeOf } from "../routes.ts";
import {
  type BodyOf,
  type Caller,
  type CallOptions,
  type JoinOptions,
  joined,
  type StartOptions,
  type StreamOptions,
} from "./call.ts";
import { type Connection, runOfResponse } from "./connection.ts";
import { followStream, type ReconnectOptions, type StreamedEvent } from "./follow-stream.ts";

const at = (thread_id: string, run_id: string, o: CallOptions) => ({
  ...o,
  parameters: { thread_id, run_id },
});

const starting = (threadId: string | null, body: BodyOf<"runs.create">, o: StartOptions) => ({
  body,
  ...(o.signal === undefined ? {} : { signal: o.signal }),
  ...(threadId === null ? {} : { parameters: { thread_id: threadId } }),
  ...(o.idempotencyKey === undefined ? {} : { headers: { [HEADER.idempotencyKey]: o.idempotencyKey } }),
});

/** Beginning runs. A thread of null: the run has one of its own. */
export function runStartCalls(call: Caller, connection: Connection, reconnect: ReconnectOptions | undefined) {
  return {
    create: (threadId: string | null, body: BodyOf<"runs.create">, o: StartOptions = {}) =>
      call(threadId === null ? "runs.createStateless" : "runs.create", starting(threadId, body, o)),
    createBatch: (body: readonly BodyOf<"runs.create">[], o: CallOptions = {}) =>
      call("runs.createBatch", { ...o, body: [...body] }),
    wait: (threadId: string | null, body: BodyOf<"runs.create">, o: StartOptions = {}) =>
      call(threadId === null ? "runs.waitStateless" : "runs.wait", starting(threadId, body, o)),
    /** The events until the run ends. Nothing is sent before the first one is asked for. */
    stream: (
      threadId: string | null,
      body: BodyOf<"runs.create">,
      o: StreamOptions = {},
    ): AsyncGenerator<StreamedEvent> => {
      const route = routeOf(threadId === null ? "runs.streamStateless" : "runs.stream");
      return followStream({
        connection,
        open: async (signal) => {
          const response = await connection.request(route, { ...starting(threadId, body, o), signal });
          const run = runOfResponse(response);
          if (run) o.onRun?.(run);
          return response;
        },
        repeatable: o.idempotencyKey !== undefined,
        untilEnd: true,
        reconnect,
        signal: o.signal,
      });
    },
  };
}

/** Runs that are there. */
export function runCalls(call: Caller, connection: Connection, reconnect: ReconnectOptions | undefined) {
  return {
    list: (
      threadId: string,
      {
        limit,
        offset,
        status,
        ...o
      }: CallOptions & { limit?: number; offset?: number; status?: string } = {},
    ) => call("runs.list", { ...o, parameters: { thread_id: threadId }, query: { limit, offset, status } }),
    get: (threadId: string, runId: string, o: CallOptions = {}) => call("runs.get", at(threadId, runId, o)),
    delete: (threadId: string, runId: string, o: CallOptions = {}) =>
      call("runs.delete", at(threadId, runId, o)),
    join: (threadId: string, runId: string, { cancelOnDisconnect, ...o }: JoinOptions = {}) =>
      call("runs.join", { ...at(threadId, runId, o), query: { cancel_on_disconnect: cancelOnDisconnect } }),
    /** The events of a run that was begun elsewhere, until it ends. */
    joinStream: (
      threadId: string | null,
      runId: string,
      { lastEventId, streamMode, cancelOnDisconnect, signal }: JoinOptions = {},
    ): AsyncGenerator<StreamedEvent> =>
      joined(
        connection,
        routeOf(threadId === null ? "runs.joinStreamStateless" : "runs.joinStream"),
        { run_id: runId, ...(threadId === null ? {} : { thread_id: threadId }) },
        { stream_mode: streamMode, cancel_on_disconnect: cancelOnDisconnect },
        true,
        { lastEventId, signal, reconnect },
      ),
    cancel: (
      threadId: string,
      runId: string,
      { wait, action, ...o }: CallOptions & { wait?: boolean; action?: "interrupt" | "rollback" } = {},
    ) => call("runs.cancel", { ...at(threadId, runId, o), query: { wait, action } }),
    cancelMany: (
      body: BodyOf<"runs.cancelMany">,
      { action, ...o }: CallOptions & { action?: "interrupt" | "rollback" } = {},
    ) => call("runs.cancelMany", { ...o, body, query: { action } }),
  };
}
