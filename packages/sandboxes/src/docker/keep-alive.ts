/** Tells the keeper of a container that it is in use: see `KEEPER`. */
import { stopwatch } from "deepwright/duration";
import { openCalls } from "./container-calls.ts";
import type { Engine } from "./engine.ts";
import { CALL_VARIABLE, KEEP_ALIVE } from "./scripts.ts";

export interface KeepAlive {
  tell(): Promise<void>;
  /** Signals in the background when a quarter of its time has passed since the last signal. */
  noteUse(): void;
  /** Sends no more signals. Safe twice. */
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
      // A call to a container that is gone fails by itself.
      if (sinceSignal() >= ttl * 250) tell().catch(() => undefined);
    },
    close: () => {
      isClosed = true;
    },
  };
}
