/** The wire: one resource a file. Schemas are values, their types have the same name with a capital letter. */
export * from "./approvals.ts";
export * from "./assistants.ts";
export type {
  AnswerOf,
  BodyOf,
  CallOptions,
  JoinOptions,
  StartOptions,
  StreamOptions,
} from "./client/call.ts";
export { type Client, type ClientOptions, createClient } from "./client/client.ts";
export type { ConnectionOptions, Fetch } from "./client/connection.ts";
export type { ReconnectOptions, StreamedEvent } from "./client/follow-stream.ts";
export { type ClientCode, errorOfResponse, ProtocolError } from "./client/protocol-error.ts";
export * from "./commands/a2a.ts";
export * from "./commands/thread-commands.ts";
export * from "./crons.ts";
export * from "./events/event-id.ts";
export * from "./events/event-name.ts";
export * from "./events.ts";
export {
  type FoldedEvent,
  foldEvent,
  foldEvents,
  screenOfThread,
  type ThreadToShow,
} from "./fold/fold-event.ts";
export {
  type CallStatus,
  emptyScreen,
  type Screen,
  type ShownAgent,
  type ShownCall,
  type ShownFile,
  type ShownInterrupt,
  type ShownMessage,
  type ShownRun,
  type ShownTodo,
  type Usage,
} from "./fold/screen.ts";
export * from "./headers.ts";
export * from "./ids.ts";
export * from "./messages.ts";
export * from "./openapi.ts";
export * from "./problems.ts";
export * from "./query.ts";
export * from "./routes.ts";
export * from "./run-status.ts";
export * from "./runs.ts";
export * from "./server.ts";
export * from "./settings/approval-links.ts";
export * from "./settings/host-settings.ts";
export * from "./sign-in.ts";
export * from "./sse.ts";
export * from "./store.ts";
export * from "./subagent-orders.ts";
export * from "./thread-undo.ts";
export * from "./thread-work.ts";
export * from "./threads.ts";
export * from "./usage.ts";
export * from "./workspace.ts";
