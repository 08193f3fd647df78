/** Tells the keeper of a container that it is in use: see `KEEPER`. */
import { stopwatch } from "deepwright/duration";
import { openCalls } from "./container-calls.ts";
import type { Engine } from "./engine.ts";
import { CALL_VARIABLE, KEEP_ALIVE } from "./scripts.ts";

export interface KeepAlive {
  tell(): Promise<void>;
  /** Tells it in the background when it has not been told for a quarter of its time. */
  noteUse(): void;
  /** Nothing is told any more. Safe twice. */
  close(): void;
}

/** `ttl` in seconds. */
export function createKeepAlive(engine: Engine, container: string, ttl: number): KeepAlive {
  const calls = openCalls({ engine, container, user: "0:0" });
  let sinceSignal = stopwatch();
  let isClosed = false;
  const tell = async (): Promise<void> => {
    if (isClosed) return;
    sinceSignal = stopwatch();
    await calls.run({
      argv: ["/bin/sh", "-c", KEEP_ALIVE],
      workingDirectory: "/",
      env: { [CALL_VARIABLE]: "keep-alive" },
    });
  };
  return {
    tell,
    noteUse: () => {
      // Whoever uses a container that is gone is told so by the use itself.
      if (sinceSignal() >= ttl * 250) tell().catch(() => undefined);
    },
    close: () => {
      isClosed = true;
    },
  };
}
