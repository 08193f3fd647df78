/** The time after which E2B ends a sandbox: it runs from when it was last set, whether or not the sandbox is used. */
import { stopwatch } from "deepwright/duration";
import type { Sandbox } from "e2b";

/** Milliseconds by which a sandbox outlives the command it runs. */
const MARGIN = 15_000;
/** And by which its time is set longer, so that not every command asks for more. */
const RESERVE = 60_000;

/** Makes it a time without use, as far as that takes few requests. */
export class SandboxTime {
  readonly #sandbox: Sandbox;
  readonly #life: number;
  /** Milliseconds of the granted time, and those since then. */
  #given: number;
  #since = stopwatch();

  /** `life` in milliseconds, just set. */
  constructor(sandbox: Sandbox, life: number) {
    this.#sandbox = sandbox;
    this.#life = life;
    this.#given = life;
  }

  /** It is needed for its whole time from now on. */
  renew(): Promise<void> {
    return this.#set(this.#life);
  }

  /** Makes the sandbox last as long as a command may; asks for more only when less than half of its time is left. */
  async prolong(commandTime: number): Promise<void> {
    const left = this.#given - this.#since();
    const needed = commandTime + MARGIN;
    if (left >= needed && left >= this.#life / 2) return;
    try {
      await this.#set(Math.max(needed + RESERVE, this.#life));
    } catch {
      // The plan may not allow so much; whether the sandbox is there is said by the command itself.
    }
  }

  async #set(milliseconds: number): Promise<void> {
    await this.#sandbox.setTimeout(milliseconds);
    this.#given = milliseconds;
    this.#since = stopwatch();
  }
}
