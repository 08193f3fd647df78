/** A small client: the routes as functions, typed by their schemas. */
import type { Route } from "../routes/route.ts";
import { routeOf } from "../routes.ts";
import { approvalCalls } from "./approval-calls.ts";
import { assistantCalls } from "./assistant-calls.ts";
import type { Caller, CallOptions } from "./call.ts";
import { type ConnectionOptions, connect } from "./connection.ts";
import { cronCalls } from "./cron-calls.ts";
import type { ReconnectOptions } from "./follow-stream.ts";
import { callRoute } from "./read-answer.ts";
import { runCalls, runStartCalls } from "./run-calls.ts";
import { settingsCalls } from "./settings-calls.ts";
import { signInCalls } from "./sign-in-calls.ts";
import { storeCalls } from "./store-calls.ts";
import { threadCalls, threadWorkCalls } from "./thread-calls.ts";
import { usageCalls } from "./usage-calls.ts";
import { workspaceCalls } from "./workspace-calls.ts";

export interface ClientOptions extends ConnectionOptions {
  /** How streams that were cut are resumed. */
  readonly reconnect?: ReconnectOptions;
}

export type Client = ReturnType<typeof createClient>;

/**
 * Functions for every route. Ids come first, then the body as its schema has it, then options. Whatever the server
 * refuses is thrown as `ProtocolError`; an abort is thrown as the signal's reason.
 */
export function createClient(options: ClientOptions) {
  const connection = connect(options);
  const call: Caller = async (name, request = {}) => {
    const route: Route = routeOf(name);
    const body = request.body ?? (route.bodyOptional ? {} : undefined);
    return (await callRoute(connection, route, {
      ...request,
      ...(body === undefined ? {} : { body }),
    })) as never;
  };
  return {
    /** Any route by its name in the table. */
    call,
    ok: (o: CallOptions = {}) => call("server.ok", o),
    info: (o: CallOptions = {}) => call("server.info", o),
    openApi: (o: CallOptions = {}) => call("server.openapi", o),
    assistants: assistantCalls(call),
    threads: {
      ...threadCalls(call, connection, options.reconnect),
      ...threadWorkCalls(call, connection),
    },
    runs: {
      ...runStartCalls(call, connection, options.reconnect),
      ...runCalls(call, connection, options.reconnect),
    },
    crons: cronCalls(call),
    store: storeCalls(call),
    approvals: approvalCalls(call),
    usage: usageCalls(call),
    workspace: workspaceCalls(call, connection),
    settings: settingsCalls(call, connection),
    signIn: signInCalls(call),
  };
}
