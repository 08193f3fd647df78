/** Headers that clients and the server agree on. */
export const HEADER = {
  /** Of a request for a stream: the last event that was seen. */
  lastEventId: "Last-Event-ID",
  /** Of a request that begins a run: the same key again is answered with the same run. */
  idempotencyKey: "Idempotency-Key",
  /** The token, for clients that do not send `Authorization: Bearer`. */
  apiKey: "X-Api-Key",
  /** Of an answer with a new run: `/threads/<thread_id>/runs/<run_id>`, nothing behind it. */
  contentLocation: "Content-Location",
  /** Of a stream: the path under the server's base where it can be resumed with GET. */
  location: "Location",
  /** Of a stream of a run: the event it closes with, always `end`. A close without it is a cut. Other servers do not say it. */
  streamEnd: "X-Stream-End",
  /** In a listing: where the next page begins, as `pages` of its route says; absent on the last. */
  paginationNext: "X-Pagination-Next",
  /** Of a search: how many there are in all. */
  paginationTotal: "X-Pagination-Total",
  retryAfter: "Retry-After",
} as const;
