/** Finds the `bwrap` of this machine, and what it can do. */
import { realpathSync, statSync } from "node:fs";
import { SandboxError } from "deepwright";
import { runProgramSync } from "deepwright/internal";
import { findProgram, isProgram } from "../find-program.ts";
import type { OsSettings } from "../os-options.ts";
import { ALTERNATIVES } from "../policy.ts";

export interface Bubblewrap {
  /** A real path. */
  readonly path: string;
  /** Changes when the program file does. */
  readonly fingerprint: string;
  /** Files in memory can be bounded: since bubblewrap 0.7. */
  readonly canBound: boolean;
}

/** Never one from where the agent works: neither the workspace nor the directory of this process. */
export function findBubblewrap({ bubblewrap: given }: OsSettings, workspace: string): Bubblewrap {
  if (given !== undefined) {
    if (isProgram(given)) return able(realpathSync.native(given));
    throw missing(`'${given}' is not a program that can be run`);
  }
  const { path, unusable } = findProgram("bwrap", [workspace, process.cwd()]);
  if (path !== undefined) return able(path);
  throw missing(unusable === undefined ? "bubblewrap is not installed" : `'${unusable}' cannot be run`);
}

const known = new Map<string, string>();

/** Identifies the program file at `path`: another file there, or another content, has another identity. */
export function programFingerprint(path: string): string {
  const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

/** By what it says of itself: distributions add to old versions. */
function able(path: string): Bubblewrap {
  const fingerprint = programFingerprint(path);
  const help =
    known.get(fingerprint) ?? runProgramSync(path, ["--help"], { cwd: "/", env: {}, timeoutMs: 5000 }).stdout;
  known.set(fingerprint, help);
  const has = (option: string): boolean => new RegExp(`^\\s*--${option} `, "m").test(help);
  if (!has("bind-fd") || !has("ro-bind-fd"))
    throw new SandboxError(
      `The os sandbox cannot be used here: '${path}' has no --bind-fd, without which a directory can be exchanged for another while it is mounted. Install bubblewrap 0.10 or later, 0.6.3, or the update of your distribution for CVE-2024-42472; or use ${ALTERNATIVES}.`,
      "SANDBOX_UNAVAILABLE",
    );
  return { path, fingerprint, canBound: has("size") };
}

function missing(reason: string): SandboxError {
  return new SandboxError(
    `The os sandbox cannot be used here: ${reason}. Install it (apt install bubblewrap, dnf install bubblewrap, pacman -S bubblewrap, apk add bubblewrap), or use ${ALTERNATIVES}.`,
    "SANDBOX_UNAVAILABLE",
  );
}
