/** A case of the sandbox suite, and its context. */
import type { ExecuteOptions, ExecuteResponse, SandboxBackendProtocol } from "../../backends/backend.ts";
import { storedContent } from "../../backends/file-map/file-map.ts";
import { ensure, same, show, succeeded } from "../suite/suite-check.ts";
import type { SuiteSize } from "../suite/suite-runner.ts";

/** A sandbox for one case, and where in it the case may work. */
export interface OpenSandbox {
  readonly backend: SandboxBackendProtocol;
  /** A canonical directory with nothing in it, the only place whose files the case touches; default `/`. */
  readonly root?: string;
  /** How commands name that directory; default: like the file methods, or, for `/`, where commands start. */
  readonly directory?: string;
  close?(): Promise<void> | void;
}

export interface SandboxSuiteOptions {
  /** Stands over all cases. */
  readonly name: string;
  /** Default: all cases. */
  readonly size?: SuiteSize;
  /** Called for each case. It may hand out one sandbox again and again with another `root`. */
  open(): Promise<OpenSandbox> | OpenSandbox;
  /** Whether a process is over when the command that started it is; default true. */
  readonly endsBackgroundProcesses?: boolean;
  /** Seconds a command may take besides its own time, on a busy machine or far away; default 60. */
  readonly slackSeconds?: number;
  /** Milliseconds for one case; default 120,000. */
  readonly timeoutMs?: number;
}

export interface SandboxCase {
  /** A sentence about behaviour. */
  readonly name: string;
  run(subject: SandboxUnderTest): Promise<void>;
}

/** The sandbox of one case. File names given to it are relative to its root. */
export class SandboxUnderTest {
  readonly backend: SandboxBackendProtocol;
  readonly root: string;
  readonly options: SandboxSuiteOptions;
  readonly slackSeconds: number;
  readonly #directory: string;

  constructor(opened: OpenSandbox, options: SandboxSuiteOptions) {
    this.backend = opened.backend;
    this.root = opened.root ?? "/";
    this.options = options;
    this.slackSeconds = options.slackSeconds ?? 60;
    this.#directory = opened.directory ?? (this.root === "/" ? "." : this.root);
  }

  /** The canonical path for the file methods. */
  at(name: string): string {
    return this.root === "/" ? `/${name}` : `${this.root}/${name}`;
  }

  /** Runs a command in the root. */
  async run(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    const prefix = this.#directory === "." ? "" : `cd ${quote(this.#directory)} || exit\n`;
    return await this.backend.execute(prefix + command, options);
  }

  /** The output of a command that has to succeed. */
  async output(command: string, options?: ExecuteOptions): Promise<string> {
    const response = await this.run(command, options);
    same(response.exitCode, 0, `exit code of ${show(command)} (output ${show(response.output)})`);
    return response.output;
  }

  /** The response of a command, which has to come within `seconds` and the slack. */
  async within(seconds: number, command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    const start = Date.now();
    const response = await this.run(command, options);
    this.checkTook(start, seconds, show(command));
    return response;
  }

  checkTook(start: number, seconds: number, what: string): void {
    const took = (Date.now() - start) / 1000;
    const allowed = seconds + this.slackSeconds;
    ensure(took <= allowed, `${what} took ${took} s, at most ${allowed} s were expected`);
  }

  async write(name: string, content: string): Promise<void> {
    await succeeded(this.backend.write(this.at(name), content), `write of ${show(name)}`);
  }

  /** The text of a file as the file methods have it. */
  async text(name: string): Promise<string> {
    const { data } = await succeeded(this.backend.readRaw(this.at(name)), `readRaw of ${show(name)}`);
    return storedContent(data);
  }

  async isThere(name: string): Promise<boolean> {
    return (await this.backend.readRaw(this.at(name))).error === undefined;
  }

  /** The bytes of a file as a command sees them, in hexadecimal. */
  async hex(name: string): Promise<string> {
    const dump = await this.output(`od -An -v -tx1 < ${quote(`./${name}`)}`);
    return dump.replace(/\s+/g, "");
  }
}

/** Text as one word of a POSIX shell, whatever is in it. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
