/** A command of Modal's test server: a process of its machine whose output can be read from any offset, also while it grows. */
import type {
  MachineExecOptions,
  MachineExit,
  MachineForTests,
  MachineProcess,
} from "../remote/machine-for-tests.ts";

const FS_TOOL = "/__modal/.bin/modal-sandbox-fs-tools";

export class ExecForTests {
  readonly stdout = new GrowingBytes();
  readonly stderr = new GrowingBytes();
  readonly exited: Promise<MachineExit>;
  exit: MachineExit | undefined;
  /** Bytes of input taken so far. */
  written = 0;
  isInputOver = false;
  readonly #process: MachineProcess;

  constructor(machine: MachineForTests, argv: readonly string[], options: MachineExecOptions) {
    const isTool = argv[0] === FS_TOOL;
    this.#process = machine.exec(isTool ? fsTool(JSON.parse(argv[1] ?? "{}")) : argv, {
      ...options,
      stdin: "pipe",
    });
    this.#process.onOutput((stream, data) => this[stream].add(data));
    this.exited = this.#process.exited;
    void this.exited.then((exit) => {
      this.exit = exit;
    });
    void this.#process.closed.then(() => {
      this.stdout.end();
      this.stderr.end();
    });
  }

  input(data: Uint8Array): void {
    this.#process.input(data);
    this.written += data.length;
  }

  endInput(): void {
    this.#process.endInput();
    this.isInputOver = true;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }
}

class GrowingBytes {
  readonly #chunks: Buffer[] = [];
  #isOver = false;
  #waiting: (() => void)[] = [];

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#rouse();
  }

  end(): void {
    this.#isOver = true;
    this.#rouse();
  }

  /** Until there is an end, or nobody listens any more. */
  async *from(offset: number, signal: AbortSignal): AsyncGenerator<Buffer> {
    signal.addEventListener("abort", () => this.#rouse(), { once: true });
    let end = 0;
    for (let index = 0; !signal.aborted; index++) {
      while (this.#chunks[index] === undefined && !this.#isOver && !signal.aborted)
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      const chunk = this.#chunks[index];
      if (chunk === undefined) return;
      end += chunk.length;
      if (end > offset) yield chunk.subarray(Math.max(0, chunk.length - (end - offset)));
    }
  }

  #rouse(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The program the vendor puts into each sandbox, by which the SDK moves files: it says in JSON why it refuses. */
function fsTool(command: any): string[] {
  const { path } = command.ReadFile ?? command.WriteFile;
  return [
    "sh",
    "-c",
    (command.ReadFile ? "drain=:" : "drain=cat") + FS_REFUSE + (command.ReadFile ? FS_READ : FS_WRITE),
    "fs-tool",
    path,
  ];
}

/** Input that comes is taken before an upload is refused. */
const FS_REFUSE = `
refuse() { printf '{"error_kind":"%s","message":"refused"}' "$1" >&2; $drain >/dev/null; exit 1; }
[ -d "$1" ] && refuse IsDirectory
`;
const FS_READ = `
[ -e "$1" ] || refuse NotFound
[ -r "$1" ] || refuse PermissionDenied
exec cat -- "$1"
`;
const FS_WRITE = `
mkdir -p -- "\${1%/*}/" 2>/dev/null || refuse NotDirectory
cat 2>/dev/null > "$1" || refuse PermissionDenied
`;
