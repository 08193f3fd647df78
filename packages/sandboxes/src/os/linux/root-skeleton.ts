/**
 * The root of every sandbox: an almost empty tree that is seen read-only, with the places where others are mounted.
 *
 * It is made once for the same content and used by all processes; a copy of what programs need of `/etc` is in it, so
 * that a command needs one mount for all of that.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { stateSubdirectory } from "../lease/state-directory.ts";
import { OWN_SETTINGS, SANDBOX_HOME, SYSTEM_DIRECTORIES, SYSTEM_SETTINGS } from "../policy.ts";

/** Where something is put later: a file or a directory, and absolute. */
export interface MountPoint {
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Changes when its form does. */
const FORM = 1;
const MAX_COPIED_BYTES = 8 * 1024 * 1024;

/** The directory of the host that becomes `/`. */
export function rootSkeleton(state: string, mounts: readonly MountPoint[]): string {
  const roots = stateSubdirectory(state, "roots");
  const path = join(roots, fingerprint(mounts));
  if (existsSync(join(path, "usr"))) return path;
  const making = join(roots, `.${randomBytes(8).toString("hex")}`);
  try {
    make(making, mounts);
    renameSync(making, path);
  } catch (error) {
    rmSync(making, { recursive: true, force: true });
    if (!existsSync(join(path, "usr"))) throw error;
  }
  return path;
}

/** The directories of the system that are no links and so have to be mounted. */
export function systemMounts(): string[] {
  return SYSTEM_DIRECTORIES.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
}

function make(root: string, mounts: readonly MountPoint[]): void {
  mkdirSync(root, { mode: 0o755 });
  for (const path of SYSTEM_DIRECTORIES) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isSymbolicLink()) symlinkSync(readlinkSync(path), join(root, path));
    else if (stats?.isDirectory()) mkdirSync(join(root, path));
  }
  for (const path of ["proc", "dev/shm", "tmp", "run", "var", dirname(SANDBOX_HOME)])
    mkdirSync(join(root, path), { recursive: true });
  symlinkSync("../tmp", join(root, "var/tmp"));
  symlinkSync("../tmp/.home", join(root, SANDBOX_HOME));
  makeDevices(join(root, "dev"));
  makeSettings(join(root, "etc"));
  for (const { path, isDirectory } of mounts) {
    const at = join(root, path);
    mkdirSync(isDirectory ? at : dirname(at), { recursive: true });
    if (!isDirectory && !existsSync(at)) writeFileSync(at, "");
  }
}

/** Mounted by themselves; the others are links. */
export const DEVICES: readonly string[] = ["null", "zero", "urandom"];

function makeDevices(directory: string): void {
  for (const name of DEVICES) writeFileSync(join(directory, name), "");
  symlinkSync("urandom", join(directory, "random"));
  symlinkSync("/proc/self/fd", join(directory, "fd"));
  for (const [number, name] of ["stdin", "stdout", "stderr"].entries())
    symlinkSync(`/proc/self/fd/${number}`, join(directory, name));
}

function makeSettings(directory: string): void {
  mkdirSync(directory);
  for (const name of SYSTEM_SETTINGS) copySetting(join("/etc", name), join(directory, name));
  for (const [name, text] of Object.entries(OWN_SETTINGS)) writeFileSync(join(directory, name), text);
  if (existsSync("/proc/self/mounts")) symlinkSync("/proc/self/mounts", join(directory, "mtab"));
}

/** A link is copied as one where it leads to what the sandbox has, else as what it leads to. */
function copySetting(from: string, to: string): void {
  const stats = lstatSync(from, { throwIfNoEntry: false });
  if (stats === undefined) return;
  mkdirSync(dirname(to), { recursive: true });
  if (stats.isSymbolicLink()) {
    const real = realPathOf(from);
    if (real?.startsWith("/usr/")) symlinkSync(real, to);
    else if (real !== undefined && statSync(real).isFile() && isHarmless(real)) cpSync(real, to);
  } else cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: isHarmless });
}

/** No pipes or devices, and nothing only its owner may read. */
function isHarmless(path: string): boolean {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return true;
  return (
    (stats.isDirectory() || (stats.isFile() && stats.size <= MAX_COPIED_BYTES)) && (stats.mode & 0o004) !== 0
  );
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Hash of all sources, by when they were last changed. */
function fingerprint(mounts: readonly MountPoint[]): string {
  const hash = createHash("sha256").update(JSON.stringify([FORM, mounts, OWN_SETTINGS, DEVICES]));
  for (const name of SYSTEM_DIRECTORIES) {
    const stats = lstatSync(name, { throwIfNoEntry: false });
    hash.update(`${name} ${stats?.isSymbolicLink() ? readlinkSync(name) : stats?.isDirectory()}\n`);
  }
  for (const name of SYSTEM_SETTINGS) {
    const stats = lstatSync(join("/etc", name), { throwIfNoEntry: false });
    hash.update(`${name} ${stats?.mtimeMs} ${stats?.size}\n`);
  }
  return hash.digest("hex").slice(0, 32);
}
