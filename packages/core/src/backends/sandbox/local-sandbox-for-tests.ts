/** A sandbox that isolates nothing: real shells and real files in a directory made for one test. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterThisFile, afterThisTest } from "../../../../../scripts/test-cleanups.mjs";
import { canonicalPath } from "../../paths.ts";
import type {
  ExecuteOptions,
  ExecuteResponse,
  FileDownloadResponse,
  FileUploadResponse,
  OperationOptions,
  TransferErrorCode,
} from "../backend.ts";
import { systemCode } from "../disk/file-errors.ts";
import { BaseSandbox, type BaseSandboxOptions } from "./base-sandbox.ts";

/** `full`: the usual tools; `core`: a POSIX shell, the core utilities, `find` and `xargs`; `busybox`: that alone. */
export type Tools = "full" | "core" | "busybox";

/** With TEST_BUSYBOX=1 also the tools of an installed busybox. */
export const TESTED_TOOLS: readonly Tools[] =
  process.env.TEST_BUSYBOX === "1" ? ["full", "core", "busybox"] : ["full", "core"];

export interface LocalSandboxOptions extends BaseSandboxOptions {
  readonly tools?: Tools;
  /** Characters of output that are kept, head and tail; default all. */
  readonly maxOutput?: number;
  /** Names left out of the core utilities. */
  readonly without?: readonly string[];
  /** Runs commands as a user without privileges, where the tests have them. */
  readonly unprivileged?: boolean;
}

/** Programs of GNU coreutils that a script could use. */
const CORE_UTILITIES = (
  "[ b2sum base32 base64 basename cat chmod chown cksum comm cp csplit cut date dd df dirname du echo env expand " +
  "expr factor false fmt fold head id install join link ln ls md5sum mkdir mkfifo mknod mktemp mv nl nproc od paste " +
  "pathchk pr printenv printf pwd readlink realpath rm rmdir seq sha1sum sha256sum shred shuf sleep sort split stat " +
  "sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink wc yes"
).split(" ");

const FINDERS = ["find", "xargs"];

const NOBODY = 65534;

/** Closed when the test is over. */
export function openLocalSandbox(options?: LocalSandboxOptions): LocalSandbox {
  const sandbox = new LocalSandbox(options);
  afterThisTest(() => sandbox.close());
  return sandbox;
}

export class LocalSandbox extends BaseSandbox {
  readonly id = "local";
  /** The directory tests work in; not the one for temporary files. */
  readonly root: string;
  /** Every call, in order. */
  readonly calls: ("execute" | "upload" | "download")[] = [];
  readonly commands: string[] = [];
  /** Paths that each download asked for. */
  readonly downloaded: (readonly string[])[] = [];
  readonly #place: string;
  readonly #tools: string;
  readonly #maxOutput: number;
  readonly #uid: number | undefined;

  constructor(options: LocalSandboxOptions = {}) {
    super({ fileTimeout: 600, ...options });
    this.#place = realpathSync(mkdtempSync(join(tmpdir(), "local-sandbox-")));
    this.root = join(this.#place, "work");
    this.#maxOutput = options.maxOutput ?? Number.POSITIVE_INFINITY;
    mkdirSync(this.root);
    mkdirSync(this.temporary, { recursive: true });
    this.#tools = toolsDirectory(options.tools ?? "full", options.without ?? []);
    this.#uid = options.unprivileged && process.getuid?.() === 0 ? NOBODY : undefined;
    if (this.#uid === undefined) return;
    chmodSync(this.#place, 0o755);
    for (const directory of [this.root, this.temporary]) chownSync(directory, NOBODY, NOBODY);
  }

  /** Where the sandbox has its temporary files. */
  get temporary(): string {
    return join(this.#place, "temporary");
  }

  /** Everything among the temporary files. */
  leftovers(): string[] {
    return readdirSync(this.temporary, { recursive: true }).map(String);
  }

  close(): void {
    rmSync(this.#place, { recursive: true, force: true });
  }

  async execute(command: string, options: ExecuteOptions = {}): Promise<ExecuteResponse> {
    this.calls.push("execute");
    this.commands.push(command);
    const child = spawn(join(this.#tools, "sh"), ["-c", command], {
      cwd: this.root,
      env: { PATH: this.#tools, TMPDIR: this.temporary },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
      ...(this.#uid === undefined ? {} : { uid: this.#uid, gid: this.#uid }),
    });
    let timedOut = false;
    const timer = setTimeout(
      () => {
        timedOut = true;
        killGroup(child);
      },
      (options.timeout ?? 600) * 1000,
    );
    const abort = (): void => killGroup(child);
    options.signal?.addEventListener("abort", abort);
    const chunks: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk));
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once("error", reject);
        child.once("close", resolve);
      });
      options.signal?.throwIfAborted();
      return this.#response(Buffer.concat(chunks).toString("utf8"), timedOut ? 124 : code);
    } finally {
      clearTimeout(timer);
      options.signal?.removeEventListener("abort", abort);
    }
  }

  async uploadFiles(
    files: readonly (readonly [string, Uint8Array])[],
    options?: OperationOptions,
  ): Promise<FileUploadResponse[]> {
    this.calls.push("upload");
    options?.signal?.throwIfAborted();
    return files.map(([path, bytes]) => ({
      path,
      error: attempt(path, (at) => {
        mkdirSync(dirname(at), { recursive: true });
        if (existsSync(at) && !statSync(at).isFile() && !statSync(at).isDirectory())
          return "permission_denied";
        writeFileSync(at, bytes);
        return null;
      }),
    }));
  }

  async downloadFiles(paths: readonly string[], options?: OperationOptions): Promise<FileDownloadResponse[]> {
    this.calls.push("download");
    this.downloaded.push(paths);
    options?.signal?.throwIfAborted();
    return paths.map((path) => {
      let content: Uint8Array | null = null;
      const error = attempt(path, (at) => {
        if (!statSync(at).isFile() && !statSync(at).isDirectory()) return "permission_denied";
        content = new Uint8Array(readFileSync(at));
        return null;
      });
      return { path, content, error };
    });
  }

  #response(output: string, exitCode: number | null): ExecuteResponse {
    if (output.length <= this.#maxOutput) return { output, exitCode, truncated: false };
    const half = Math.floor(this.#maxOutput / 2);
    return { output: `${output.slice(0, half)}\n[…]\n${output.slice(-half)}`, exitCode, truncated: true };
  }
}

function attempt(path: string, act: (path: string) => TransferErrorCode | null): TransferErrorCode | null {
  const canonical = canonicalPath(path);
  if (canonical.error !== undefined) return "invalid_path";
  try {
    return act(canonical.path);
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT") return "file_not_found";
    if (code === "EISDIR") return "is_directory";
    if (code === "ENOTDIR" || code === "EEXIST") return "parent_not_found";
    if (code === "ENAMETOOLONG") return "invalid_path";
    if (code === "EACCES" || code === "EPERM") return "permission_denied";
    throw error;
  }
}

/** By what they have; sandboxes of a file share them, because a link for each tool takes longer than most tests. */
const toolsDirectories = new Map<string, string>();

function toolsDirectory(tools: Tools, without: readonly string[]): string {
  const key = JSON.stringify([tools, without]);
  const made = toolsDirectories.get(key);
  if (made !== undefined) return made;
  const directory = mkdtempSync(join(tmpdir(), "local-sandbox-tools-"));
  chmodSync(directory, 0o755);
  linkTools(directory, tools, without);
  toolsDirectories.set(key, directory);
  afterThisFile(() => {
    toolsDirectories.delete(key);
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

function linkTools(directory: string, tools: Tools, without: readonly string[]): void {
  if (tools === "busybox") {
    execFileSync(whereIs("busybox") as string, ["--install", "-s", directory]);
    return;
  }
  const names = ["sh", ...CORE_UTILITIES, ...FINDERS, ...(tools === "core" ? [] : ["grep"])];
  for (const name of names) {
    const place = whereIs(name);
    if (place !== undefined && !without.includes(name)) symlinkSync(place, join(directory, name));
  }
}

function whereIs(name: string): string | undefined {
  const places = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/bin"];
  return places.map((place) => join(place, name)).find((path) => existsSync(path));
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (systemCode(error) !== "ESRCH") throw error;
  }
}
