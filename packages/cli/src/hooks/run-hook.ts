/** Runs one hook: a shell command outside the sandbox, with JSON on stdin. */
import { safeLine } from "../terminal/safe-text.ts";

export interface HookCommand {
  readonly command: string;
  /** Seconds; default 60. */
  readonly timeout?: number | undefined;
}

export type HookResult =
  /** `reason` is its stderr. Exit code 2 means refuse. */
  | { readonly kind: "ended"; readonly code: number; readonly reason: string }
  /** It did not start, or did not end in time. */
  | { readonly kind: "failed"; readonly reason: string };

const DEFAULT_SECONDS = 60;
const MOST_BYTES = 64 * 1024;
/** Milliseconds for output that arrives after the shell has ended. */
const DRAIN_MS = 200;

/** Variables a hook gets: names that carry no secrets. Everything about the event is in the JSON. */
const PASSED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|TMPDIR|TZ|LC_.*|SystemRoot|ComSpec|DEEPWRIGHT_HOME)$/;

/** Everything it started in its process group ends with it. Throws only when `signal` aborts. */
export async function runHook(
  { command, timeout = DEFAULT_SECONDS }: HookCommand,
  input: object,
  { directory, env, signal }: { directory: string; env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined },
): Promise<HookResult> {
  signal?.throwIfAborted();
  const { startProgram } = await import("deepwright/internal");
  const [shell, words] =
    process.platform === "win32"
      ? [env.ComSpec ?? "cmd.exe", ["/d", "/s", "/c", command]]
      : ["/bin/sh", ["-c", command]];
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && PASSED.test(entry[0]),
  );
  const options = { cwd: directory, env: Object.fromEntries(passed), stdio: "pipe", group: "own" } as const;
  const child = startProgram(shell, words, options);
  const end = (): void => endGroup(child.pid);
  signal?.addEventListener("abort", end, { once: true });
  let timer: NodeJS.Timeout | undefined;
  try {
    let stderr = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < MOST_BYTES) stderr += text;
    });
    child.stdout?.resume();
    child.stdin?.on("error", () => {});
    child.stdin?.end(`${JSON.stringify(input)}\n`);
    const ended = new Promise<HookResult>((resolve) => {
      child.on("error", (error) => resolve({ kind: "failed", reason: `did not start: ${error.message}` }));
      child.on("exit", (code, by) => {
        const result: HookResult =
          code === null
            ? { kind: "failed", reason: `was ended by ${by}` }
            : { kind: "ended", code, reason: "" };
        const settle = (): void =>
          resolve(result.kind === "ended" ? { ...result, reason: safeLine(stderr, 2_000) } : result);
        child.on("close", settle);
        setTimeout(settle, DRAIN_MS).unref();
      });
    });
    const late = new Promise<HookResult>((resolve) => {
      timer = setTimeout(
        () => resolve({ kind: "failed", reason: `did not end within ${timeout} s` }),
        timeout * 1000,
      );
    });
    const result = await Promise.race([ended, late]);
    signal?.throwIfAborted();
    return result;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
    end();
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL");
  } catch {
    // Nothing of it is left.
  }
}
