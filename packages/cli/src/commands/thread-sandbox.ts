/**
 * The sandbox of a thread, stored with the thread. Pending calls continue only in the same sandbox: a person approves a
 * command for the place shown in the question.
 */

import { isRecord } from "deepwright/check-options";
import { type CommandError, usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { isCloud, isSandboxKind, type SandboxOptions } from "./sandbox-kind.ts";

/** The keys of the state it is kept under, by a run and by a server, whose clients do not see it. */
export const SANDBOX = "sandbox";
export const SANDBOX_OF_SERVER = "_sandbox";

export interface ThreadSandbox extends SandboxOptions {
  /** The real path of the directory it works in; in a cloud it plays no part. */
  readonly directory: string;
}

/** As it was kept; undefined: nothing was, or nothing that can be read. */
export function keptSandbox(value: unknown): ThreadSandbox | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, isAskedFor, image, hosts, directory } = value;
  if (!isSandboxKind(kind) || !Array.isArray(hosts) || typeof directory !== "string") return undefined;
  return {
    kind,
    isAskedFor: isAskedFor === true,
    ...(typeof image === "string" ? { image } : {}),
    hosts: hosts.map(String),
    directory,
  };
}

/** The same text for the same sandbox, and for no other. */
export function placeOf({ kind, image, hosts, directory }: ThreadSandbox): string {
  const where = isCloud(kind) ? undefined : directory;
  return JSON.stringify([kind, image, [...new Set(hosts)].sort(), where]);
}

export interface RunSituation {
  /** The real path of the directory the command line names. */
  readonly directory: string;
  readonly hasTask: boolean;
  /** Calls of the thread wait for approval. */
  readonly isWaiting: boolean;
}

/**
 * Where a run works. `given` is what the command line says, `kept` what the thread has; with a task the thread may go
 * elsewhere, because a task closes what is open.
 */
export function sandboxOfRun(
  given: SandboxOptions,
  kept: ThreadSandbox | undefined,
  { directory, hasTask, isWaiting }: RunSituation,
): ThreadSandbox {
  if (kept === undefined) {
    if (isWaiting && !hasTask && !given.isAskedFor) throw unknownSandbox();
    return { ...given, directory };
  }
  checkGiven(given, kept);
  const isGiven = given.isAskedFor || given.hosts.length > 0;
  const wanted = { ...(isGiven ? given : kept), directory };
  if (hasTask || placeOf(wanted) === placeOf(kept)) return wanted;
  if (placeOf({ ...wanted, directory: kept.directory }) === placeOf(kept))
    throw usageError(
      `This thread works in ${safeLine(kept.directory)}, and its open calls do not run in ${safeLine(directory)}.`,
      `Continue with --in ${quoted(kept.directory)}, or give a task, which cancels the open calls.`,
    );
  throw usageError(
    `This thread works with ${sandboxFlags(kept)}, and its open calls do not run in another sandbox.`,
    "Omit --sandbox and --allow-host to continue there, or give a task with them, which cancels the open calls.",
  );
}

/** For threads that another program or an older version started. */
function unknownSandbox(): CommandError {
  return usageError(
    "Calls of this thread wait for approval, but their sandbox is not known.",
    "Name it with --sandbox (usually os), or give a task, which cancels the open calls.",
  );
}

function checkGiven(given: SandboxOptions, kept: ThreadSandbox): void {
  if (given.isAskedFor) return;
  if (kept.kind === "none")
    throw usageError(
      "The commands of this thread run without isolation. That needs --sandbox none each time.",
      "Add --sandbox none, or give a task with another --sandbox.",
    );
  if (given.hosts.length > 0 && kept.kind !== "os")
    throw usageError(
      `--allow-host is for commands in the os sandbox; this thread works with ${sandboxFlags(kept)}.`,
      "Give a task with --sandbox os to use that sandbox.",
    );
}

/** The options that select this sandbox. */
export function sandboxFlags({ kind, image, hosts }: SandboxOptions): string {
  const name = image === undefined ? kind : quoted(`${kind}:${image}`);
  return [`--sandbox ${name}`, ...hosts.map((host) => `--allow-host ${quoted(host)}`)].join(" ");
}

/** A word for a shell, as far as it can be shown. */
export function quoted(word: string): string {
  const shown = safeLine(word);
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}
