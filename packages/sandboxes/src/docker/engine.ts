/** The connection to a container engine: calls with a deadline, and failures in our words. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after } from "deepwright/duration";
import type Docker from "dockerode";
import { loadVendor } from "../remote/vendor.ts";
import { type EngineAddress, showAddress } from "./engine-address.ts";
import { EngineTimeout, engineError } from "./engine-error.ts";

export interface CallOptions {
  /** Completes "The container engine could not …". */
  readonly action: string;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds; default: the engine's. */
  readonly deadline?: number;
}

export interface Engine {
  readonly docker: Docker;
  readonly address: string;
  /** The answer of the engine; its own errors are thrown as they are, an abort with its reason. */
  ask<Answer>(act: (abortSignal: AbortSignal) => Promise<Answer>, options: CallOptions): Promise<Answer>;
  /** As `ask`, with failures as `SandboxError`. */
  call<Answer>(act: (abortSignal: AbortSignal) => Promise<Answer>, options: CallOptions): Promise<Answer>;
}

/** Loads the client; connects when the first call is made. `timeout` is in seconds. */
export async function openEngine(at: EngineAddress, timeout: number): Promise<Engine> {
  const { default: Client } = await loadVendor("dockerode", () => import("dockerode"));
  const address = showAddress(at);
  const docker = new Client(clientOptions(at));
  const ask: Engine["ask"] = (act, { signal, deadline = timeout * 1000 }) =>
    withDeadline(act, deadline, signal);
  return {
    docker,
    address,
    ask,
    call: async (act, options) => {
      try {
        return await ask(act, options);
      } catch (error) {
        options.signal?.throwIfAborted();
        throw engineError(error, options.action, address);
      }
    },
  };
}

function clientOptions(at: EngineAddress): Docker.DockerOptions {
  if ("socketPath" in at) return { socketPath: at.socketPath };
  const { certificates, ...rest } = at;
  if (certificates === undefined) return rest;
  const read = (name: string): Buffer => readFileSync(join(certificates, name));
  return { ...rest, ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}

/**
 * Not every call of the client knows signals, so none is waited for longer. The signal is not aborted any more once there
 * is an answer: a stream that was opened lives on.
 */
async function withDeadline<Answer>(
  act: (abortSignal: AbortSignal) => Promise<Answer>,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  signal?.throwIfAborted();
  const controller = new AbortController();
  let stop = (): void => undefined;
  let stopTimer = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    const end = (reason: unknown) => (): void => {
      reject(reason);
      controller.abort();
    };
    stopTimer = after(milliseconds, end(new EngineTimeout(`no answer in ${milliseconds} ms`)));
    stop = () => end(signal?.reason)();
    signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    const asked = act(controller.signal);
    asked.catch(() => undefined);
    return await Promise.race([asked, stopped]);
  } finally {
    stopTimer();
    signal?.removeEventListener("abort", stop);
  }
}
