/** The wire: one resource a file. Schemas are values, their types have the same name with a capital letter. */
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
export * from "./crons.ts";
export * from "./event-id.ts";
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
export * from "./runs.ts";
export * from "./server.ts";
export * from "./sse.ts";
export * from "./store.ts";
export * from "./thread-work.ts";
export * from "./threads.ts";
