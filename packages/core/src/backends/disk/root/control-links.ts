/** Targets of links that stand in the place of control files at the top of a root: they steer other programs too. */
import { isWithin } from "../../../paths.ts";
import { FileFailure, systemCode } from "../file-errors.ts";
import type { ContainedRoot } from "./contained-root.ts";
import { CONTROL_NAMES, isControlPath } from "./control-files.ts";
import type { OpenDirectory } from "./open-directory.ts";

const NAMES = [...CONTROL_NAMES.directories, ...CONTROL_NAMES.files];
/** Bytes of a directory up to which listing it costs less than asking for each name. */
const SMALL_DIRECTORY = 16 * 1024;

export class ControlLinks {
  readonly #root: ContainedRoot;
  /** The links that were there when the directory was last changed. */
  #known: { readonly moment: number; readonly names: readonly string[] } | undefined;

  constructor(root: ContainedRoot) {
    this.#root = root;
  }

  /** Whether one of them leads there, or to a directory it lies in. `path` is as seen from the root. */
  leadTo(path: string): boolean {
    return this.#names().some((name) => {
      const target = this.#targetOf(name);
      return target !== undefined && isWithin(path, target);
    });
  }

  #names(): readonly string[] {
    const opened = this.#root.openDirectory(this.#root.mountedAt);
    if ("error" in opened) return [];
    const { directory } = opened;
    try {
      const { mtimeMs: moment, size } = directory.lstat(".");
      if (this.#known?.moment !== moment)
        this.#known = { moment, names: linksIn(directory, size <= SMALL_DIRECTORY) };
      return this.#known.names;
    } finally {
      directory.close();
    }
  }

  /** As seen from the root; undefined: it is outside, or all of the root. */
  #targetOf(name: string): string | undefined {
    try {
      const resolved = this.#root.resolve(this.#root.virtualPath(`/${name}`));
      resolved.directory?.close();
      const target = this.#root.pathInside(resolved.path);
      return target === "/" ? undefined : target;
    } catch (error) {
      if (!(error instanceof FileFailure) && systemCode(error) === undefined) throw error;
      return undefined;
    }
  }
}

function linksIn(directory: OpenDirectory, isSmall: boolean): string[] {
  if (!isSmall) return NAMES.filter((name) => isLink(directory, name));
  const links = directory.entries().filter((entry) => entry.isSymbolicLink());
  return links.map(({ name }) => name).filter((name) => isControlPath(`/${name}`));
}

function isLink(directory: OpenDirectory, name: string): boolean {
  try {
    return directory.lstat(name).isSymbolicLink();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}
