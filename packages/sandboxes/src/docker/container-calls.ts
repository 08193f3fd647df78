/** Processes in one container, and the meaning of a failure to start one: the container is gone, or the engine is. */
import { setTimeout as pause } from "node:timers/promises";
import { SandboxError } from "deepwright";
import { inspectContainer } from "./container.ts";
import type { Engine } from "./engine.ts";
import { engineError, isGone, lostContainer } from "./engine-error.ts";
import { type ExecRequest, type RunningExec, startExec } from "./exec.ts";

export interface ContainerCalls {
  /** Errors are ours; an abort is thrown with its reason. */
  start(request: ExecRequest, signal?: AbortSignal): Promise<RunningExec>;
  /** Runs something short of ours to its end, with all its output. */
  run(request: Omit<ExecRequest, "onOutput">, signal?: AbortSignal): Promise<RunResult>;
  /** The result of `asked`, or the reason why the container gives none. */
  answer<Answer>(asked: Promise<Answer>): Promise<Answer>;
  /** Throws when the container is gone. */
  checkRunning(): Promise<void>;
  reasonFor(error: unknown): Promise<SandboxError>;
  lost(): SandboxError;
}

export interface RunResult {
  readonly output: Buffer;
  readonly exitCode: number | null;
}

export interface ContainerTarget {
  readonly engine: Engine;
  readonly container: string;
  readonly user?: string | undefined;
}

/** Milliseconds to find out whether a container is still there. */
const INSPECT_LIMIT = 10_000;

/** Milliseconds an engine may take to notice that a container has ended, after a command of it was refused or broke off. */
const SETTLE_LIMIT = 5000;

export function openCalls({ engine, container, user }: ContainerTarget): ContainerCalls {
  const isRunning = async (): Promise<boolean> => {
    const info = await inspectContainer(engine, container, { deadline: INSPECT_LIMIT });
    return info?.State.Running === true;
  };
  const reasonFor = async (error: unknown): Promise<SandboxError> => {
    if (SandboxError.isInstance(error)) return error;
    if (isGone(error) && !(await isRunning())) return lostContainer(error);
    const reason = engineError(error, "run a command", engine.address);
    try {
      for (const start = performance.now(); await isRunning(); await pause(200))
        if (performance.now() - start > SETTLE_LIMIT) return reason;
      return lostContainer(error);
    } catch (second) {
      return SandboxError.isInstance(second) ? second : reason;
    }
  };
  const answer: ContainerCalls["answer"] = async (asked) => {
    try {
      return await asked;
    } catch (error) {
      throw await reasonFor(error);
    }
  };
  const start: ContainerCalls["start"] = async (request, signal) => {
    try {
      return await startExec(engine, container, { user, ...request }, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw await reasonFor(error);
    }
  };
  return {
    start,
    answer,
    reasonFor,
    lost: () => lostContainer(),
    checkRunning: async () => {
      if (!(await isRunning())) throw lostContainer();
    },
    run: async (request, signal) => {
      const pieces: Buffer[] = [];
      const exec = await start({ ...request, onOutput: (chunk) => pieces.push(Buffer.from(chunk)) }, signal);
      const stop = (): void => exec.close();
      signal?.addEventListener("abort", stop, { once: true });
      try {
        await answer(exec.ended);
        const exitCode = await answer(exec.exitCode());
        if (exitCode === null || exitCode >= 128) if (!(await isRunning())) throw lostContainer();
        return { output: Buffer.concat(pieces), exitCode };
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener("abort", stop);
        exec.close();
      }
    },
  };
}
