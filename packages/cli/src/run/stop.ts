/** The ways to stop a run from outside: Ctrl-C, a signal to terminate, a time limit, a reader that left. */
import { after } from "deepwright/duration";
import { EXIT } from "../exit-codes.ts";
import type { StopReason } from "./output/run-end.ts";

export class Stop {
  readonly signal: AbortSignal;
  /** Undefined until something asks to stop. */
  reason: StopReason | undefined;
  private readonly controller = new AbortController();
  private stopTimer = (): void => {};

  constructor() {
    this.signal = this.controller.signal;
  }

  /** The first signal stops the run, the second ends the process at once. */
  listen(onFirst: (reason: StopReason) => void): void {
    const handle = (reason: "SIGINT" | "SIGTERM"): void => {
      if (this.reason === "SIGINT" || this.reason === "SIGTERM")
        process.exit(reason === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
      onFirst(reason);
      this.because(reason);
    };
    process.on("SIGINT", () => handle("SIGINT"));
    process.on("SIGTERM", () => handle("SIGTERM"));
    process.stdout.on("error", () => this.because("closed"));
    process.stderr.on("error", () => this.because("closed"));
    // An attempt of --best-of ends with the process that started it, however that one ended.
    process.once("disconnect", () => this.because("closed"));
    process.channel?.unref();
  }

  /** Stops the run when this many seconds are over. */
  after(seconds: number): void {
    this.stopTimer = after(seconds * 1000, () => this.because("timeout"));
  }

  because(reason: StopReason): void {
    this.reason ??= reason;
    this.stopTimer();
    this.controller.abort(abortError());
  }

  /** No clock runs on after the run is over. */
  done(): void {
    this.stopTimer();
  }
}

function abortError(): Error {
  const error = new Error("The run was stopped.");
  error.name = "AbortError";
  return error;
}

/** How long work may take to notice that it was stopped. */
const GRACE_MS = 700;

/** Settles like `work`; after a stop it waits only a moment longer for work that does not listen. */
export async function untilStopped(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let wait = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    wait = () => {
      timer = setTimeout(resolve, GRACE_MS);
    };
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
  try {
    await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", wait);
    clearTimeout(timer);
  }
}
