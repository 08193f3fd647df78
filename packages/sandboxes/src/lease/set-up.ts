/**
 * The set-up of a sandbox: a script that runs once in each.
 *
 * A directory among its temporary files shows the progress, so that another process does not run it again and does not
 * use a half-finished set-up.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { SandboxError } from "deepwright";
import type { OpenedSandbox } from "../provider.ts";
import { quoted } from "../quoted.ts";
import type { Settings } from "./options.ts";
import { redactSecrets } from "./redact-secrets.ts";

const TAIL_CHARACTERS = 2000;
const POLL_MILLISECONDS = 250;

/** The text of the script; undefined: there is none. Throws SETUP_FAILED for a file that cannot be read. */
export async function setupText(settings: Settings): Promise<string | undefined> {
  const { setupScript, setupScriptPath } = settings;
  if (setupScriptPath === undefined) return setupScript?.trim() === "" ? undefined : setupScript;
  try {
    return await readFile(setupScriptPath, "utf8");
  } catch (error) {
    const { code } = error as { readonly code?: string };
    throw new SandboxError(
      `The set-up script '${setupScriptPath}' cannot be read (${code ?? "unknown"}). No sandbox was opened.`,
      "SETUP_FAILED",
      error,
    );
  }
}

export interface SetUpOptions {
  readonly script: string;
  readonly settings: Settings;
  readonly signal: AbortSignal;
  /** The caller owns the sandbox, and others may set it up at the same time. */
  readonly isBorrowed: boolean;
}

/**
 * Whether it is set up now; false: a set-up was started and not finished, so the sandbox must not be used. Throws
 * SETUP_FAILED.
 */
export async function setUp(opened: OpenedSandbox, options: SetUpOptions): Promise<boolean> {
  const { settings, signal, isBorrowed } = options;
  const directory = markOf(opened);
  const end = performance.now() + settings.setupTimeout * 1000;
  for (;;) {
    const found = await run(opened, `${directory}; ${CLAIM}`, 30, signal);
    const [state] = found.output.trim().split("\n").slice(-1);
    if (state === "ready") return true;
    if (state === "claimed") break;
    // One process at a time works on a thread, so an unfinished set-up has no owner.
    const isOurs = settings.scope === "thread" && !isBorrowed;
    if (state !== "busy" || isOurs || performance.now() > end) return false;
    await pause(POLL_MILLISECONDS, signal);
  }
  try {
    await runScript(opened, directory, options);
    return true;
  } catch (error) {
    // A borrowed sandbox is not ended after a failure, so the next set-up tries again.
    if (isBorrowed)
      await run(opened, `${directory}; rm -rf "$d"`, 30, AbortSignal.timeout(30_000)).catch(() => {});
    throw error;
  }
}

const CLAIM =
  'if [ -e "$d/ready" ]; then echo ready; elif mkdir "$d" 2>/dev/null; then echo claimed; ' +
  'elif [ -d "$d" ]; then echo busy; else echo unknown; fi';

async function runScript(
  opened: OpenedSandbox,
  directory: string,
  { script, settings, signal }: SetUpOptions,
): Promise<void> {
  const { exitCode, output } = await run(
    opened,
    commandFor(script, directory),
    settings.setupTimeout,
    signal,
  );
  if (exitCode !== 0) throw failed(exitCode, output, settings);
  const marked = await run(opened, `${directory}; : > "$d/ready"`, 30, signal);
  if (marked.exitCode !== 0) throw failed(marked.exitCode, marked.output, settings);
}

/** A script with an interpreter in its first line runs as a file; any other runs in the shell of the sandbox. */
function commandFor(script: string, directory: string): string {
  const [, interpreter] = /^#!\s*(\/[^\n]*)\n/.exec(script) ?? [];
  if (interpreter === undefined) return script;
  return `${directory}; printf '%s' ${quoted(script)} > "$d/script" && ${interpreter.trim()} "$d/script"`;
}

/** A name of its own for every sandbox: files of the caller outlive the sandbox that used them. */
function markOf({ id }: OpenedSandbox): string {
  const name = createHash("sha256").update(id).digest("hex").slice(0, 24);
  return `d="\${TMPDIR:-/tmp}/.deepwright-setup-${name}"`;
}

async function run(
  { sandbox }: OpenedSandbox,
  command: string,
  timeout: number,
  signal: AbortSignal,
): Promise<{ readonly output: string; readonly exitCode: number | null }> {
  return await sandbox.execute(command, { timeout, signal });
}

function failed(exitCode: number | null, output: string, { setupTimeout, secrets }: Settings): SandboxError {
  const how =
    exitCode === 124
      ? `did not end within ${setupTimeout} s`
      : `failed with exit code ${exitCode ?? "unknown"}`;
  const tail = redactSecrets(output, secrets).trimEnd().slice(-TAIL_CHARACTERS);
  const words = tail === "" ? "It printed nothing." : `The end of its output:\n${tail}`;
  return new SandboxError(`The set-up script of the sandbox ${how}. ${words}`, "SETUP_FAILED");
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}
