/** A LangSmith sandbox as a machine that runs lines and moves files. */
import type { Sandbox } from "langsmith/sandbox";
import { atMost } from "../remote/create-or-undo.ts";
import { LossCheck } from "../remote/loss-check.ts";
import type {
  MachineRunOptions,
  MachineRunResult,
  RemoteMachine,
  TransferFailure,
} from "../remote/remote-sandbox.ts";
import type { VendorCalls } from "../remote/vendor-calls.ts";
import { lostSandbox } from "../remote/vendor-errors.ts";
import { isMissing } from "./langsmith-calls.ts";

/** Milliseconds for the question whether the sandbox is still there. */
const PROBE_WAIT = 5000;
/** Milliseconds between looks at the sandbox while a command runs: the SDK keeps trying for a while when it is gone. */
const WATCH_EVERY = 3000;
const TRANSFER_SECONDS = 600;

/** Errors that may be about the file: the sandbox is asked. */
const ABOUT_THE_FILE = new Set(["LangSmithSandboxOperationError", "LangSmithResourceNotFoundError"]);

export class LangSmithMachine implements RemoteMachine {
  readonly id: string;
  readonly workingDirectory: string;
  readonly #sandbox: Sandbox;
  readonly #calls: LossCheck;
  readonly #state: (() => Promise<string>) | undefined;
  readonly #ended = new Set<() => void>();

  /** `state` asks the service; absent: only the sandbox itself can be asked. */
  constructor(sandbox: Sandbox, calls: VendorCalls, workingDirectory: string, state?: () => Promise<string>) {
    this.id = sandbox.name;
    this.workingDirectory = workingDirectory;
    this.#sandbox = sandbox;
    this.#state = state;
    this.#calls = new LossCheck({
      id: this.id,
      isGone: () => this.#isGone(),
      error: (action, error) => calls.error(action, error),
      onEnd: () => {
        for (const tell of [...this.#ended]) tell();
      },
    });
  }

  /** From now on every call fails with `SANDBOX_LOST`, running ones too. */
  end(): void {
    this.#calls.end();
  }

  /** The SDK's call takes no signal: an abandoned call ends with its command. */
  run(line: string, { timeoutSeconds, signal }: MachineRunOptions): Promise<MachineRunResult> {
    return this.#calls.attempt("run a command", async () => {
      const running = this.#sandbox
        .run(line, { timeout: timeoutSeconds, shell: "/bin/sh" })
        .then(({ stdout, exit_code }) => ({ output: stdout, exitCode: exit_code }));
      return this.#watched(running, signal);
    });
  }

  put(path: string, bytes: Uint8Array): Promise<TransferFailure | undefined> {
    return this.#transfer("store a file", async () => {
      await this.#sandbox.write(path, bytes, TRANSFER_SECONDS);
      return undefined;
    });
  }

  get(path: string): Promise<Uint8Array | TransferFailure> {
    return this.#transfer("read a file", () => this.#sandbox.read(path, TRANSFER_SECONDS));
  }

  #transfer<Value>(action: string, move: () => Promise<Value>): Promise<Value | TransferFailure> {
    return this.#calls.attempt(action, async () => {
      try {
        return await move();
      } catch (error) {
        if (error instanceof Error && ABOUT_THE_FILE.has(error.name) && !(await this.#isGone()))
          return "unclear";
        throw error;
      }
    });
  }

  /** Rejects as soon as it is known that the sandbox is over. */
  async #watched<Result>(running: Promise<Result>, signal: AbortSignal): Promise<Result> {
    running.catch(() => undefined);
    let tell = (): void => undefined;
    const over = new Promise<never>((_, reject) => {
      tell = () => reject(lostSandbox(this.id));
    });
    over.catch(() => undefined);
    this.#ended.add(tell);
    const watch = setInterval(() => {
      if (signal.aborted) clearInterval(watch);
      else void this.#isGone().then((isGone) => isGone && this.end());
    }, WATCH_EVERY);
    try {
      return await Promise.race([running, over]);
    } finally {
      clearInterval(watch);
      this.#ended.delete(tell);
    }
  }

  /** False also where LangSmith does not say. */
  async #isGone(): Promise<boolean> {
    if (this.#calls.isOver) return true;
    if (this.#state === undefined) return false;
    const state = await atMost(
      PROBE_WAIT,
      this.#state().catch((error: unknown) => (isMissing(error) ? "gone" : "unknown")),
    );
    return state === "gone" || state === "failed";
  }
}
