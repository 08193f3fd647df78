/** Headers that clients and the server agree on. */
export const HEADER = {
  /** Request for a stream: the last event that was seen. */
  lastEventId: "Last-Event-ID",
  /** Request that begins a run: the same key again is answered with the same run. */
  idempotencyKey: "Idempotency-Key",
  /** The token, for clients that do not send `Authorization: Bearer`. */
  apiKey: "X-Api-Key",
  /** Answer with a new run: `/threads/<thread_id>/runs/<run_id>`, nothing behind it. */
  contentLocation: "Content-Location",
  /** Stream: the path under the server's base where it can be resumed with GET. */
  location: "Location",
  /** Stream of a run: its closing event, always `end`. A close without it is a cut. Other servers do not send it. */
  streamEnd: "X-Stream-End",
  /** In a listing: where the next page begins, as `pages` of its route says; absent on the last. */
  paginationNext: "X-Pagination-Next",
  /** Search: the number of results in all. */
  paginationTotal: "X-Pagination-Total",
  retryAfter: "Retry-After",
} as const;
