/** Which entries of a directory tree Git would ignore, by the `.gitignore` of every level. */
import { readFile, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";

interface Level {
  /** Absolute directory the rules belong to. */
  readonly directory: string;
  readonly rules: Ignore;
}

/** Rules in force in one directory; those of deeper directories come last and win. */
export class IgnoreRules {
  private readonly levels: readonly Level[];

  private constructor(levels: readonly Level[]) {
    this.levels = levels;
  }

  /** The rules that the repository around `root` has for it, without those of `root` itself. */
  static async around(root: string): Promise<IgnoreRules> {
    let rules = new IgnoreRules([]);
    for (const directory of await repositoryAbove(root)) rules = await rules.enter(directory);
    return rules;
  }

  /** With the rules of one more directory. */
  async enter(directory: string): Promise<IgnoreRules> {
    const text = await textOf(join(directory, ".gitignore"));
    if (text === undefined) return this;
    return new IgnoreRules([...this.levels, { directory, rules: ignore().add(text) }]);
  }

  /** `path` is absolute and lies in a directory that is not ignored itself. */
  ignores(path: string, isDirectory: boolean): boolean {
    let ignored = false;
    for (const { directory, rules } of this.levels) {
      const name = relative(directory, path).split(sep).join("/");
      const result = rules.test(isDirectory ? `${name}/` : name);
      if (result.ignored) ignored = true;
      else if (result.unignored) ignored = false;
    }
    return ignored;
  }
}

/** The directories above `root`, from the root of its repository down; none when there is no repository. */
async function repositoryAbove(root: string): Promise<readonly string[]> {
  const directories: string[] = [];
  for (let directory = root; ; directory = dirname(directory)) {
    if (directory !== root) directories.unshift(directory);
    const isRepository = await stat(join(directory, ".git")).then(
      () => true,
      () => false,
    );
    if (isRepository) return directories;
    if (dirname(directory) === directory) return [];
  }
}

/** Undefined when there is none, or none that can be read. */
async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(() => undefined);
}
