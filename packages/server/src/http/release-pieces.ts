/** Keeps long answers from holding memory for every piece they have sent. */
import type { ServerResponse } from "node:http";

/**
 * `@hono/node-server` chains one promise to the next for each piece of a body, and lets go of the chain only when it waits
 * for the response to drain. A stream of small pieces never fills the buffer, so its chain would grow for as long as it is
 * open. Here every write asks for a wait, which ends at once where the buffer has room.
 */
export function releasePieces(response: ServerResponse): void {
  const write = response.write.bind(response) as (...args: unknown[]) => boolean;
  response.write = (...args: unknown[]): boolean => {
    if (write(...args)) setImmediate(() => response.emit("drain"));
    return false;
  };
}
