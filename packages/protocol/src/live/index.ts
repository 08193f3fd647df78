/** `@deepwright/protocol/live`: threads as they happen, for pages. Loads no schemas, so that a page stays small. */
export { type Connection, type ConnectionOptions, connect, type RawRequest } from "../client/connection.ts";
export { followStream } from "../client/follow-stream.ts";
export { type ClientCode, ProtocolError } from "../client/protocol-error.ts";
export { type FoldedEvent, foldEvent, foldEvents, screenOfThread } from "../fold/fold-event.ts";
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
} from "../fold/screen.ts";
export { isSlowMarkdown } from "../fold/slow-markdown.ts";
export {
  type AnswerExtras,
  openThread,
  type RunSettings,
  runRequest,
  type SentContent,
  type ThreadSnapshot,
  type ThreadStore,
  type ThreadStoreOptions,
} from "./thread-store.ts";
