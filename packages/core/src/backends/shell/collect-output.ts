/** Reads the output of a command, as fast as it comes, into bounded memory. */
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { type CollectedOutput, OutputRing } from "./output-ring.ts";

export interface OutputCollector {
  /** Resolves when every writer has closed its end. */
  readonly ended: Promise<void>;
  hasEnded(): boolean;
  /** Bytes so far. */
  received(): number;
  collected(): CollectedOutput;
  /** Stops reading; twice is safe. */
  close(): void;
}

const READ_SIZE = 64 * 1024;

/** Takes over the file descriptor and closes it. All reads use one piece of memory. */
export function collectFromPipe(readEnd: number, maxBytes: number): OutputCollector {
  const ring = new OutputRing(maxBytes);
  const socket = new Socket({
    fd: readEnd,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_SIZE),
      callback: (length: number, buffer: Uint8Array) => {
        ring.add(buffer.subarray(0, length));
        return true;
      },
    },
  } as ConstructorParameters<typeof Socket>[0]);
  return collector(ring, [socket]);
}

export function collectFromStreams(streams: readonly (Readable | null)[], maxBytes: number): OutputCollector {
  const ring = new OutputRing(maxBytes);
  const open = streams.filter((stream) => stream !== null);
  for (const stream of open) stream.on("data", (chunk: Uint8Array) => ring.add(chunk));
  return collector(ring, open);
}

/** A stream that fails has ended: its output so far counts. */
function collector(ring: OutputRing, streams: readonly Readable[]): OutputCollector {
  let left = streams.length;
  const ended = new Promise<void>((resolve) => {
    const one = (): void => {
      left -= 1;
      if (left === 0) resolve();
    };
    for (const stream of streams) {
      stream.once("end", one);
      stream.once("error", one);
    }
  });
  return {
    ended,
    hasEnded: () => left === 0,
    received: () => ring.total,
    collected: () => ring.collected(),
    close: () => {
      for (const stream of streams) stream.destroy();
    },
  };
}
