/**
 * The machine behind a loopback server that stands for a vendor: commands really run, files are really there.
 *
 * It is a bubblewrap of its own: the vendor's absolute paths are real in it, commands see each other's processes and
 * nothing of this one's, and `kill` ends all of it. What `paths` name survives `stop` and `start`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

export interface MachineForTestsOptions {
  /** Directories of the vendor that can be written to, beside `/tmp`: `["/home/daytona"]`. The first one is HOME. */
  readonly paths: readonly string[];
  /** Variables of every command, beside PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface MachineExecOptions {
  /** Default `/`. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** `pipe`: `input` and `endInput` can be used. Default: empty. */
  readonly stdin?: "pipe";
}

export interface MachineExit {
  /** 128 + n after signal n, as shells have it; null when the machine was killed. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface MachineProcess {
  /** As the machine counts. Rejects where it could not be started, with the code of the system. */
  readonly pid: Promise<number>;
  /** When it is over, whoever still holds its output. */
  readonly exited: Promise<MachineExit>;
  /** When it is over and its output was closed. */
  readonly closed: Promise<MachineExit>;
  /** Called with every piece that comes from now on; what came before is handed over at once. */
  onOutput(listener: (stream: "stdout" | "stderr", data: Buffer) => void): void;
  input(data: Uint8Array): void;
  endInput(): void;
  /** `group`: everything in the process group it leads. */
  kill(signal?: NodeJS.Signals, group?: boolean): void;
}

export interface MachineStat {
  readonly size: number;
  readonly isDirectory: boolean;
  readonly isFile: boolean;
  readonly mode: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

/** A file operation failed; `code` is the system's, such as `ENOENT`. */
export class MachineFailure extends Error {
  readonly code: string;

  constructor(code: string, message = code) {
    super(message);
    this.code = code;
  }
}

type Message = Record<string, any>;
type Listener = (message: Message) => void;

export class MachineForTests {
  readonly id = randomBytes(8).toString("hex");
  readonly #place = mkdtempSync(join(tmpdir(), "machine-"));
  readonly #options: MachineForTestsOptions;
  readonly #listeners = new Map<string, Listener>();
  #agent: ChildProcess | undefined;
  #calls = 0;

  private constructor(options: MachineForTestsOptions) {
    this.#options = options;
    for (const path of ["/tmp", ...options.paths]) mkdirSync(this.#host(path), { recursive: true });
    chmodSync(this.#host("/tmp"), 0o1777);
  }

  static async create(options: MachineForTestsOptions): Promise<MachineForTests> {
    const machine = new MachineForTests(options);
    await machine.start();
    return machine;
  }

  get isRunning(): boolean {
    return this.#agent !== undefined;
  }

  /** Starts it again with the files it had. */
  async start(): Promise<void> {
    if (this.#agent !== undefined) return;
    const agent = spawn("bwrap", this.#arguments(), { stdio: ["pipe", "pipe", "inherit"] });
    this.#agent = agent;
    agent.stdin.on("error", () => undefined);
    agent.once("close", () => this.#ended(agent));
    await new Promise<void>((resolve, reject) => {
      this.#listeners.set("", () => resolve());
      agent.once("error", reject);
      agent.once("exit", (code) => reject(new Error(`The machine did not start: ${code}`)));
      createInterface({ input: agent.stdout }).on("line", (line) => {
        const message = JSON.parse(line) as Message;
        this.#listeners.get(message.call ?? "")?.(message);
      });
    });
  }

  /** Ends everything that runs; files stay. */
  async stop(): Promise<void> {
    const agent = this.#agent;
    if (agent === undefined) return;
    this.#agent = undefined;
    const closed = new Promise<void>((resolve) => agent.once("close", () => resolve()));
    agent.kill("SIGKILL");
    await closed;
  }

  /** Ends everything that runs, and removes the files. Safe twice. */
  async kill(): Promise<void> {
    await this.stop();
    rmSync(this.#place, { recursive: true, force: true });
  }

  /** By `sh -c`. */
  shell(command: string, options?: MachineExecOptions): MachineProcess {
    return this.exec(["sh", "-c", command], options);
  }

  exec(argv: readonly string[], options: MachineExecOptions = {}): MachineProcess {
    const call = this.#nextCall();
    const chunks: (readonly ["stdout" | "stderr", Buffer])[] = [];
    const outputListeners: ((stream: "stdout" | "stderr", data: Buffer) => void)[] = [];
    const textOf = (wanted: string): Buffer =>
      Buffer.concat(chunks.filter(([stream]) => stream === wanted).map(([, data]) => data));
    const exit = ({ code, signal }: Message): MachineExit => ({
      exitCode: exitCodeOf(code, signal),
      stdout: textOf("stdout"),
      stderr: textOf("stderr"),
    });
    const pid = deferred<number>();
    const exited = deferred<MachineExit>();
    const closed = deferred<MachineExit>();
    pid.promise.catch(() => undefined);
    this.#listeners.set(call, (message) => {
      if (message.type === "started") pid.resolve(message.pid);
      else if (message.type === "failed") {
        pid.reject(new MachineFailure(message.code));
        exited.resolve({ exitCode: 127, stdout: Buffer.alloc(0), stderr: Buffer.from(`${message.code}\n`) });
        closed.resolve(exited.promise);
      } else if (message.type === "exit") exited.resolve(exit(message));
      else if (message.type === "close") {
        exited.resolve(exit(message));
        closed.resolve(exit(message));
        this.#listeners.delete(call);
      } else {
        const data = Buffer.from(message.data, "base64");
        chunks.push([message.type, data]);
        for (const listener of outputListeners) listener(message.type, data);
      }
    });
    this.#send({ call, type: "exec", argv, ...options });
    return {
      pid: pid.promise,
      exited: exited.promise,
      closed: closed.promise,
      onOutput: (listener) => {
        for (const [stream, data] of chunks) listener(stream, data);
        outputListeners.push(listener);
      },
      input: (data) => this.#send({ type: "input", of: call, data: Buffer.from(data).toString("base64") }),
      endInput: () => this.#send({ type: "input", of: call, end: true }),
      kill: (signal, group) => this.#send({ type: "kill", of: call, signal, group }),
    };
  }

  /** Throws a `MachineFailure`, like the other file operations. */
  async readFile(path: string): Promise<Buffer> {
    return Buffer.from((await this.#ask({ type: "read", path })).data, "base64");
  }

  async writeFile(
    path: string,
    bytes: Uint8Array,
    options: { readonly makeParents?: boolean; readonly mode?: number } = {},
  ): Promise<void> {
    await this.#ask({ type: "write", path, data: Buffer.from(bytes).toString("base64"), ...options });
  }

  async makeDirectory(path: string): Promise<void> {
    await this.#ask({ type: "makeDirectory", path });
  }

  async stat(path: string): Promise<MachineStat> {
    return (await this.#ask({ type: "stat", path })) as unknown as MachineStat;
  }

  async list(path: string): Promise<readonly string[]> {
    return (await this.#ask({ type: "list", path })).names;
  }

  async remove(path: string): Promise<void> {
    await this.#ask({ type: "remove", path });
  }

  #ask(request: Message): Promise<Message> {
    const call = this.#nextCall();
    return new Promise((resolve, reject) => {
      this.#listeners.set(call, (message) => {
        this.#listeners.delete(call);
        if (message.type === "done") resolve(message);
        else reject(new MachineFailure(message.code ?? "EIO", message.message));
      });
      this.#send({ call, ...request });
    });
  }

  #send(message: Message): void {
    const { call } = message;
    if (this.#agent !== undefined) this.#agent.stdin?.write(`${JSON.stringify(message)}\n`);
    else if (call !== undefined) queueMicrotask(() => this.#listeners.get(call)?.(GONE));
  }

  #nextCall(): string {
    this.#calls += 1;
    return String(this.#calls);
  }

  #ended(agent: ChildProcess): void {
    if (this.#agent === agent) this.#agent = undefined;
    for (const listener of [...this.#listeners.values()]) listener(GONE);
    this.#listeners.clear();
  }

  #host(path: string): string {
    return join(this.#place, "root", path);
  }

  #arguments(): string[] {
    const { paths, env = {} } = this.#options;
    const variables = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: paths[0] ?? "/", ...env };
    return [
      ...["--die-with-parent", "--unshare-pid", "--unshare-ipc", "--new-session", "--clearenv"],
      ...["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"],
      ...["/bin", "/sbin", "/lib", "/lib64"].flatMap((name) => ["--symlink", `usr${name}`, name]),
      ...["/etc/alternatives", "/etc/passwd", "/etc/group", "/etc/ld.so.cache"]
        .filter((path) => existsSync(path))
        .flatMap((path) => ["--ro-bind", path, path]),
      ...(process.execPath.startsWith("/usr/")
        ? []
        : ["--ro-bind", dirname(dirname(process.execPath)), dirname(dirname(process.execPath))]),
      ...["/tmp", ...paths].flatMap((path) => ["--bind", this.#host(path), path]),
      ...Object.entries(variables).flatMap(([name, value]) => ["--setenv", name, value]),
      ...["--chdir", "/", process.execPath, "--input-type=module", "--eval", AGENT_CODE],
    ];
  }
}

const AGENT_CODE = readFileSync(new URL("./machine-agent-for-tests.mjs", import.meta.url), "utf8");
/** Answer to everything under way when the machine ends. */
const GONE: Message = { type: "close", code: null, signal: null, data: "" };

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value | Promise<Value>): void;
  reject(error: unknown): void;
}

function deferred<Value>(): Deferred<Value> {
  let resolve: Deferred<Value>["resolve"] = () => undefined;
  let reject: Deferred<Value>["reject"] = () => undefined;
  const promise = new Promise<Value>((res, rej) => {
    resolve = res;
    reject = rej;
  });
  return { promise, resolve, reject };
}

const SIGNALS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

function exitCodeOf(code: number | null, signal: string | null): number | null {
  return signal === null || signal === undefined ? code : 128 + (SIGNALS[signal] ?? 0);
}
