/** A case of the lease suite, and its tools. */
import { randomBytes } from "node:crypto";
import { type ExecuteOptions, SandboxError } from "deepwright";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";

export interface LeaseSuiteOptions {
  /** Stands over all cases. */
  readonly name: string;
  /**
   * Called once for all cases, to see which apply to it, and more than once a case; always for the same account or
   * place. The second provider stands for another process.
   */
  provider(): SandboxProvider;
  /** Seconds that ending, finding and answering may take. A case waits for the event, not for this time; default 60. */
  readonly slackSeconds?: number;
  /** The shortest `ttl` in seconds after which a place ends, or is ended by the next `open`; true: 1. Absent: it does not. */
  readonly endsByItself?: number | boolean;
  /** All places of one provider work on the same files, which outlive them; default false. */
  readonly sharesFiles?: boolean;
  /** Milliseconds for one case; default 300,000. */
  readonly timeoutMs?: number;
}

/** Abilities a provider needs for a case. */
export interface Need {
  isMet(provider: SandboxProvider, options: LeaseSuiteOptions): boolean;
  /** Why a case is left out where it is not. */
  readonly because: string;
}

export const NEEDS = {
  reattach: { isMet: ({ reattach }) => reattach !== undefined, because: "it has no `reattach`" },
  find: { isMet: ({ find }) => find !== undefined, because: "it has no `find`" },
  destroy: { isMet: ({ destroy }) => destroy !== undefined, because: "it has no `destroy`" },
  ownSandboxes: { isMet: ({ isBorrowed }) => !isBorrowed, because: "the caller owns its sandbox" },
  borrowedSandbox: { isMet: ({ isBorrowed }) => Boolean(isBorrowed), because: "it owns its sandboxes" },
  ttl: {
    isMet: (_, { endsByItself }) => Boolean(endsByItself),
    because: "`endsByItself` does not name a time after which its sandboxes end",
  },
} as const satisfies Record<string, Need>;

export interface LeaseCase {
  /** A sentence about behaviour. */
  readonly name: string;
  /** Absent: for every provider. */
  readonly needs?: readonly Need[];
  run(scene: LeaseScene): Promise<void>;
}

/** Opens places and sees to it that none is left when the case is over. */
export class LeaseScene {
  readonly provider: SandboxProvider;
  readonly options: LeaseSuiteOptions;
  readonly #opened: OpenedSandbox[] = [];

  constructor(options: LeaseSuiteOptions) {
    this.options = options;
    this.provider = options.provider();
  }

  get slack(): number {
    return this.options.slackSeconds ?? 60;
  }

  /** Seconds. */
  get ttl(): number {
    return Number(this.options.endsByItself ?? 0);
  }

  /** As another process has it. */
  another(): SandboxProvider {
    return this.options.provider();
  }

  request(given: Partial<OpenRequest> = {}): OpenRequest {
    return { key: `suite-${randomBytes(6).toString("hex")}`, env: {}, ...given };
  }

  async open(given: Partial<OpenRequest> = {}, provider = this.provider): Promise<OpenedSandbox> {
    return this.keep(await provider.open(this.request(given)));
  }

  /** Found again by another process. */
  async reattach(id: string, given: Partial<OpenRequest> = {}): Promise<OpenedSandbox | undefined> {
    const opened = await this.another().reattach?.(id, this.request(given));
    return opened === undefined ? undefined : this.keep(opened);
  }

  keep(opened: OpenedSandbox): OpenedSandbox {
    this.#opened.push(opened);
    return opened;
  }

  /** The path of a file of the working directory, for the file methods. */
  at(name: string): string {
    const { workingDirectory } = this.provider;
    return workingDirectory === "/" ? `/${name}` : `${workingDirectory}/${name}`;
  }

  async close(): Promise<void> {
    for (const opened of this.#opened.reverse()) await opened.destroy();
  }

  /** Waits until it holds, at most for the slack. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + this.slack * 1000;
    while (!(await holds())) {
      check(Date.now() < end, `${what} did not happen within ${this.slack} s`);
      await pause(50);
    }
  }

  /** Waits until a command of this place has written the file, which is in the working directory. */
  async written(opened: OpenedSandbox, name: string): Promise<void> {
    await this.until(
      `the file '${name}'`,
      async () => (await opened.sandbox.readRaw(this.at(name))).error === undefined,
    );
  }

  /** The answer, which has to come within the slack. */
  async soon<Value>(what: string, value: Promise<Value>): Promise<Value> {
    const late = Symbol();
    const first = await Promise.race([value, pause(this.slack * 1000).then(() => late)]);
    check(first !== late, `${what} did not happen within ${this.slack} s`);
    return first as Value;
  }
}

/** The output of a command that has to succeed. */
export async function outputOf(
  { sandbox }: OpenedSandbox,
  command: string,
  options?: ExecuteOptions,
): Promise<string> {
  const { output, exitCode } = await sandbox.execute(command, options);
  check(exitCode === 0, `'${command}' has exit code ${exitCode}: ${output}`);
  return output;
}

/** The error that was thrown. */
export async function thrownBy(action: () => Promise<unknown>): Promise<unknown> {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new LeaseSuiteFailure("It should have thrown, and did not.");
}

export function checkLost(error: unknown): void {
  check(
    SandboxError.isInstance(error) && error.code === "SANDBOX_LOST",
    `expected a SandboxError with code SANDBOX_LOST, got ${String(error)}`,
  );
}

export function check(condition: unknown, message: string): asserts condition {
  if (!condition) throw new LeaseSuiteFailure(message);
}

export function checkSame(actual: unknown, expected: unknown, what: string): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  check(one === other, `${what}: expected ${other}, got ${one}`);
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

class LeaseSuiteFailure extends Error {
  override readonly name = "LeaseSuiteFailure";
}
