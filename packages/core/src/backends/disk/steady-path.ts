/**
 * A directory by its path, for reading much about what is in it: a path is cheaper for the system than a
 * descriptor shown as one.
 *
 * A path may come to lead elsewhere. Whoever moves a directory on the way changes the time of change (which
 * no one can set) of the directory it lies in. So a path is used only where, from the root down, none was
 * changed for a second, and what was read counts only if none was changed meanwhile. Directories above the
 * root are compared by what they are alone.
 */
import { type BigIntStats, lstatSync } from "node:fs";
import { systemCode } from "./file-errors.ts";
import type { OpenDirectory } from "./open-directory.ts";

const STEADY_MS = 1000;

export class SteadyPath {
  readonly path: string;
  readonly #seen: readonly (readonly [path: string, stats: BigIntStats])[];

  private constructor(path: string, seen: readonly (readonly [string, BigIntStats])[]) {
    this.path = path;
    this.#seen = seen;
  }

  /** The path of `directory`, which lies in the one at `rootPath`; undefined where it cannot be trusted. */
  static of(directory: OpenDirectory, rootPath: string): SteadyPath | undefined {
    const path = directory.hostPath();
    if (path !== rootPath && !path.startsWith(rootPath === "/" ? "/" : `${rootPath}/`)) return undefined;
    const inner = path.slice(rootPath.length).split("/").filter(Boolean);
    const paths = [rootPath, ...inner.map((_, end) => [rootPath, ...inner.slice(0, end + 1)].join("/"))];
    const latest = BigInt(Date.now() - STEADY_MS) * 1_000_000n;
    const seen: [string, BigIntStats][] = [];
    for (const one of paths) {
      const stats = look(one);
      if (!stats?.isDirectory() || stats.ctimeNs >= latest) return undefined;
      seen.push([one, stats]);
    }
    const end = seen.at(-1)?.[1];
    const held = lstatSync(directory.path("."), { bigint: true });
    return end?.ino === held.ino && end.dev === held.dev ? new SteadyPath(path, seen) : undefined;
  }

  /** Whether no directory on the way was changed since. */
  isUnchanged(): boolean {
    return this.#seen.every(([path, before]) => {
      const now = look(path);
      return now?.ino === before.ino && now.dev === before.dev && now.ctimeNs === before.ctimeNs;
    });
  }
}

function look(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
