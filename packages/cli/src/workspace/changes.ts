/** What a run made of the files it was given. */

interface FileLike {
  readonly content: string | readonly string[];
}

export type Files = Readonly<Record<string, FileLike>>;

/** Paths as the agent sees them, sorted. */
export interface Changes {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
}

export function changesBetween(before: Files, after: Files): Changes {
  const created: string[] = [];
  const changed: string[] = [];
  for (const [path, file] of Object.entries(after))
    if (!Object.hasOwn(before, path)) created.push(path);
    else if (before[path] !== file && textOf(before[path] as FileLike) !== textOf(file)) changed.push(path);
  const deleted = Object.keys(before).filter((path) => !Object.hasOwn(after, path));
  return { created: created.sort(), changed: changed.sort(), deleted: deleted.sort() };
}

export function isUnchanged({ created, changed, deleted }: Changes): boolean {
  return created.length + changed.length + deleted.length === 0;
}

/** The older form of a file is a list of lines. */
export function textOf({ content }: FileLike): string {
  return typeof content === "string" ? content : content.join("\n");
}
