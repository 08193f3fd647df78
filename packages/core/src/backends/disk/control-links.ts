/** What links in the place of control files, at the top of a root, lead to: that steers other programs as well. */
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import { isWithin } from "../../paths.ts";
import { CONTROL_NAMES, isControlPath } from "./control-files.ts";
import { systemCode } from "./file-errors.ts";

const NAMES = [...CONTROL_NAMES.directories, ...CONTROL_NAMES.files];
/** Bytes of a directory up to which listing it costs less than asking for each name. */
const SMALL_DIRECTORY = 16 * 1024;

export class ControlLinks {
  readonly #hostPath: string;
  /** The links that were there when the directory was last changed. */
  #known: { readonly moment: bigint; readonly names: readonly string[] } | undefined;

  constructor(hostPath: string) {
    this.#hostPath = hostPath;
  }

  /** Whether one of them leads there, or to a directory it lies in. `path` is as seen from the root. */
  leadTo(path: string): boolean {
    return this.#names().some((name) => {
      const target = this.#targetOf(name);
      return target !== undefined && isWithin(path, target);
    });
  }

  #names(): readonly string[] {
    const stats = statSync(this.#hostPath, { bigint: true, throwIfNoEntry: false });
    if (stats === undefined) return [];
    const moment = stats.mtimeNs;
    if (this.#known?.moment !== moment)
      this.#known = { moment, names: linksIn(this.#hostPath, stats.size <= SMALL_DIRECTORY) };
    return this.#known.names;
  }

  /** As seen from the root; undefined: it is outside, or all of the root. */
  #targetOf(name: string): string | undefined {
    const root = realPath(this.#hostPath) ?? this.#hostPath;
    const target = realPath(resolve(root, name)) ?? namedBy(root, name);
    const inside = target === undefined ? "" : relative(root, target);
    if (inside === "" || inside === ".." || inside.startsWith(`..${sep}`)) return undefined;
    return `/${inside.split(sep).join("/")}`.normalize("NFC");
  }
}

function linksIn(directory: string, isSmall: boolean): string[] {
  const names = isSmall ? readdirSync(directory).filter((name) => isControlPath(`/${name}`)) : NAMES;
  return names.filter((name) =>
    lstatSync(resolve(directory, name), { throwIfNoEntry: false })?.isSymbolicLink(),
  );
}

/** Where a link leads that leads to nothing yet. */
function namedBy(root: string, name: string): string | undefined {
  return unlessMissing(() => resolve(root, readlinkSync(resolve(root, name))));
}

function realPath(path: string): string | undefined {
  return unlessMissing(() => realpathSync.native(path));
}

function unlessMissing(look: () => string): string | undefined {
  try {
    return look();
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return undefined;
  }
}
