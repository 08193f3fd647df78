/** The directory of a run as the agent gets it, and what became of it. */
import type { FileChange, SharedSaver } from "@deepwright/checkpoint";
import type { BackendProtocol, PreviewChange } from "deepwright";
import { type Changes, changesOf } from "./changes.ts";
import { changesSince } from "./run-changes.ts";

export interface NotWritten {
  /** As the agent sees it. */
  readonly path: string;
  readonly reason: string;
}

export interface Workplace {
  /** Its real path. */
  readonly directory: string;
  /** `/` is the directory; nothing outside it is reachable. */
  readonly backend: BackendProtocol;
  /** Each once, in the order they were refused. */
  readonly notWritten: readonly NotWritten[];
  /** `since` is the number of the thread's newest image when the run began. */
  readonly outcome: (saver: SharedSaver, threadId: string, since: number) => Promise<WorkOutcome>;
}

export interface WorkOutcome {
  readonly changes: Changes;
  /** Of a dry run: what would have been written. */
  readonly preview: readonly FileChange[] | undefined;
}

/** `directory` is a real path. With `dryRun` it is only read. */
export async function openWorkplace(directory: string, dryRun: boolean): Promise<Workplace> {
  const [{ diskPlaceName, isControlPath, PolicyBackend, previewBackend }, { ProjectFiles }] =
    await Promise.all([import("deepwright"), import("./project-files.ts")]);
  const notWritten: NotWritten[] = [];
  // A file that steers other programs: nobody is here to agree.
  const approve = (path: string): boolean => {
    if (!notWritten.some((known) => known.path === path)) notWritten.push({ path, reason: "needs approval" });
    return false;
  };
  const disk = new ProjectFiles({ rootDir: directory, virtualMode: true, approve });
  if (!dryRun)
    return {
      directory,
      backend: disk,
      notWritten,
      outcome: async (saver, threadId, since) => ({
        changes: await changesSince(saver, threadId, since, diskPlaceName(directory)),
        preview: undefined,
      }),
    };
  const preview = previewBackend(disk);
  const check = (operation: string, path: string): string | undefined =>
    CHANGING.has(operation) && isControlPath(path) && !approve(path)
      ? `Error: '${path}' steers other programs: a person has to approve a change to it`
      : undefined;
  return {
    directory,
    backend: new PolicyBackend(preview, { check }),
    notWritten,
    outcome: () => previewed(preview.changes()),
  };
}

/** What a preview would let through and the disk would not. */
const CHANGING: ReadonlySet<string> = new Set(["write", "append", "edit", "delete", "upload"]);

async function previewed(files: readonly PreviewChange[]): Promise<WorkOutcome> {
  const { changeBetween, fileContent } = await import("@deepwright/checkpoint");
  const preview: FileChange[] = [];
  for (const { path, before, after } of files) {
    const change = await changeBetween(path, fileContent(before), fileContent(after));
    if (change) preview.push(change);
  }
  return { changes: changesOf(preview), preview };
}
