/** Notices for the caller of `openMcp`: worth knowing, no action needed. */

/** Stable words a program may switch on. */
export type McpNoticeCode =
  /** No person has agreed to this server of the project, so it was not started. */
  | "UNTRUSTED"
  /** The user's own file has a server of this name: the project's is left out. */
  | "SHADOWED"
  /** It cannot be started or reached; its tools are missing until it can. */
  | "UNAVAILABLE"
  /** It was there and is gone; it is being started again. */
  | "LOST"
  | "RECONNECTED"
  /** A tool that cannot be offered, because of its name or its schema. */
  | "TOOL_REFUSED"
  /** A tool has other words or another schema than when it was agreed to: it is left out. */
  | "TOOL_CHANGED"
  /** The stored cache or trust file cannot be read or written; work continues without it. */
  | "CACHE_FAILED";

export interface McpNotice {
  readonly code: McpNoticeCode;
  /** The name of the server. */
  readonly server: string;
  /** One sentence or two, without control characters. */
  readonly message: string;
}

export type OnNotice = (notice: McpNotice) => void;
