import { routeOf } from "../routes.ts";
import type { RestoreThread, RewindThread } from "../thread-undo.ts";
import { type BodyOf, type Caller, type CallOptions, type JoinOptions, joined } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { ReconnectOptions, StreamedEvent } from "./follow-stream.ts";

const at = (thread_id: string, o: CallOptions) => ({ ...o, parameters: { thread_id } });

export function threadCalls(call: Caller, connection: Connection, reconnect: ReconnectOptions | undefined) {
  return {
    create: (body: BodyOf<"threads.create"> = {}, o: CallOptions = {}) =>
      call("threads.create", { ...o, body }),
    get: (id: string, o: CallOptions = {}) => call("threads.get", at(id, o)),
    update: (id: string, body: BodyOf<"threads.update">, o: CallOptions = {}) =>
      call("threads.update", { ...at(id, o), body }),
    delete: (id: string, o: CallOptions = {}) => call("threads.delete", at(id, o)),
    copy: (id: string, { checkpointId, ...o }: CallOptions & { checkpointId?: string } = {}) =>
      call("threads.copy", { ...at(id, o), query: { checkpoint_id: checkpointId } }),
    /** All fields: `select` is for `call`. */
    search: (body: Omit<BodyOf<"threads.search">, "select"> = {}, o: CallOptions = {}) =>
      call("threads.search", { ...o, body }),
    count: (body: BodyOf<"threads.count"> = {}, o: CallOptions = {}) => call("threads.count", { ...o, body }),
    prune: (body: BodyOf<"threads.prune">, o: CallOptions = {}) => call("threads.prune", { ...o, body }),
    getState: (
      id: string,
      { checkpoint, subgraphs, ...o }: CallOptions & Partial<BodyOf<"threads.getStateAt">> = {},
    ) =>
      checkpoint === undefined
        ? call("threads.getState", { ...at(id, o), query: { subgraphs } })
        : call("threads.getStateAt", { ...at(id, o), body: { checkpoint, subgraphs } }),
    updateState: (id: string, body: BodyOf<"threads.updateState">, o: CallOptions = {}) =>
      call("threads.updateState", { ...at(id, o), body }),
    patchState: (id: string, body: BodyOf<"threads.patchState">, o: CallOptions = {}) =>
      call("threads.patchState", { ...at(id, o), body }),
    history: (id: string, body: BodyOf<"threads.history"> = {}, o: CallOptions = {}) =>
      call("threads.history", { ...at(id, o), body }),
    /** Goes on with the next run until the loop is left or the signal is aborted. */
    stream: (
      id: string,
      { lastEventId, streamMode, signal }: JoinOptions = {},
    ): AsyncGenerator<StreamedEvent> =>
      joined(connection, routeOf("threads.stream"), { thread_id: id }, { stream_mode: streamMode }, false, {
        lastEventId,
        signal,
        reconnect,
      }),
  };
}

/** Additions of our server. */
export function threadWorkCalls(call: Caller, connection: Connection) {
  return {
    /** For the run that goes on (`steer`), or the turn after it (`follow-up`). */
    postMessage: (id: string, body: BodyOf<"threads.postMessage">, o: CallOptions = {}) =>
      call("threads.postMessage", { ...at(id, o), body }),
    /** Stops one subagent; the run goes on. */
    stopSubagent: (id: string, body: BodyOf<"threads.stopSubagent">, o: CallOptions = {}) =>
      call("threads.stopSubagent", { ...at(id, o), body }),
    /** For one subagent, before its next model call. */
    steerSubagent: (id: string, body: BodyOf<"threads.steerSubagent">, o: CallOptions = {}) =>
      call("threads.steerSubagent", { ...at(id, o), body }),
    interrupts: (id: string, o: CallOptions = {}) => call("threads.interrupts", at(id, o)),
    answerInterrupt: (
      id: string,
      interruptId: string,
      body: BodyOf<"threads.answerInterrupt">,
      o: CallOptions = {},
    ) =>
      call("threads.answerInterrupt", {
        ...o,
        parameters: { thread_id: id, interrupt_id: interruptId },
        body,
      }),
    files: (
      id: string,
      {
        checkpointId,
        path,
        after,
        ...o
      }: CallOptions & { checkpointId?: string; path?: string; after?: string } = {},
    ) => call("threads.files", { ...at(id, o), query: { checkpoint_id: checkpointId, path, after } }),
    readFile: async (
      id: string,
      path: string,
      { checkpointId, ...o }: CallOptions & { checkpointId?: string } = {},
    ) => {
      const query = { path, checkpoint_id: checkpointId };
      const response = await connection.request(routeOf("threads.readFile"), { ...at(id, o), query });
      return new Uint8Array(await response.arrayBuffer());
    },
    diffFiles: (
      id: string,
      {
        from,
        to,
        path,
        skip,
        ...o
      }: CallOptions & { from?: string; to?: string; path?: string; skip?: number } = {},
    ) => call("threads.diffFiles", { ...at(id, o), query: { from, to, path, skip } }),
    steps: (id: string, { skip, ...o }: CallOptions & { skip?: number } = {}) =>
      call("threads.steps", { ...at(id, o), query: { skip } }),
    rewind: (id: string, body: RewindThread, o: CallOptions = {}) =>
      call("threads.rewind", { ...at(id, o), body }),
    restore: (id: string, body: RestoreThread, o: CallOptions = {}) =>
      call("threads.restore", { ...at(id, o), body }),
    blame: (id: string, path: string, o: CallOptions = {}) =>
      call("threads.blame", { ...at(id, o), query: { path } }),
    compare: (id: string, other: string, o: CallOptions = {}) =>
      call("threads.compare", { ...o, parameters: { thread_id: id, other_thread_id: other } }),
    adopt: (id: string, body: BodyOf<"threads.adopt"> = {}, o: CallOptions = {}) =>
      call("threads.adopt", { ...at(id, o), body }),
  };
}
