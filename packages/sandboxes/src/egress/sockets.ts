/** Reading the beginning of a connection, and joining two. */
import type { Duplex } from "node:stream";

/**
 * Passes the bytes so far to `decide` until it returns something; then all bytes are put back, and the socket is
 * paused. Undefined: the connection ended, or there was no decision within `timeout` milliseconds after its first byte.
 */
export function peek<T>(
  socket: Duplex,
  decide: (bytes: Buffer) => T | undefined,
  timeout: number,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    let timer: NodeJS.Timeout | undefined;
    const settle = (result: T | undefined) => {
      clearTimeout(timer);
      socket.off("data", onData).off("end", onEnd).off("close", onEnd);
      socket.pause();
      if (result !== undefined) socket.unshift(bytes);
      resolve(result);
    };
    const onEnd = () => settle(undefined);
    const onData = (chunk: Buffer) => {
      bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
      timer ??= setTimeout(onEnd, timeout);
      const result = decide(bytes);
      if (result !== undefined) settle(result);
    };
    if (socket.destroyed || socket.readableEnded) return resolve(undefined);
    socket.on("data", onData).on("end", onEnd).on("close", onEnd);
    socket.resume();
  });
}

/** Bytes go both ways until both have ended; an end is passed on, and a loss ends both. */
export function join(left: Duplex, right: Duplex): void {
  joinOne(left, right);
  joinOne(right, left);
}

/** One direction of `join`. */
export function joinOne(from: Duplex, to: Duplex): void {
  from.on("error", () => to.destroy());
  from.once("close", () => endSoon(to));
  if (from.destroyed) endSoon(to);
  else from.pipe(to);
}

/** Ends the socket after the written bytes were sent. */
function endSoon(socket: Duplex): void {
  if (socket.destroyed) return;
  if (socket.writableFinished) socket.destroy();
  else socket.once("finish", () => socket.destroy()).end();
}
