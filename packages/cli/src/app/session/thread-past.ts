/** The past of threads over the protocol: their steps, going back, and who wrote the lines of a file. */
import type { BlameAuthor, BlameLine } from "@deepwright/checkpoint";
import {
  type BodyOf,
  type Client,
  type FileBlame,
  type FileChanges,
  ProtocolError,
  type RestoredThread,
  type ThreadSteps,
} from "@deepwright/protocol";
import type { ShownChange, ShownReport } from "../../threads/lines.ts";

export interface PastStep {
  readonly checkpointId: string;
  readonly at: string;
  readonly source: string;
  readonly summary: string;
  readonly changedFiles: readonly string[];
}

export interface Rewound extends ShownReport {
  /** The new newest step; undefined with `dryRun`. */
  readonly checkpointId: string | undefined;
  /** Going there undoes it. */
  readonly previousId: string;
}

interface RewindWish {
  /** False: files on disk stay as they are. Default true. */
  readonly files?: boolean;
  readonly dryRun?: boolean;
}

export class ThreadPast {
  /** `directory` names the directory of the agent's files; undefined: only the server knows it. */
  constructor(
    private readonly client: Client,
    private readonly directory: string | undefined,
  ) {}

  /** The newest last; none in a thread that was never used. */
  async steps(threadId: string): Promise<readonly PastStep[]> {
    const all: PastStep[] = [];
    for (let skip: number | undefined = 0; skip !== undefined; ) {
      const page: ThreadSteps | undefined = await this.client.threads
        .steps(threadId, { skip })
        .catch(noThread);
      all.push(...(page?.steps ?? []).map(pastStep));
      skip = page?.next;
    }
    return all;
  }

  async rewind(threadId: string, checkpointId: string, { files, dryRun }: RewindWish = {}): Promise<Rewound> {
    const done = await this.client.threads.rewind(threadId, {
      checkpoint_id: checkpointId,
      ...(files === false && { files }),
      ...(dryRun && { dry_run: true }),
    });
    return {
      ...this.report(done),
      checkpointId: done.checkpoint_id ?? undefined,
      previousId: done.previous_id,
    };
  }

  async restore(
    threadId: string,
    part: BodyOf<"threads.restore">,
  ): Promise<ShownReport & { readonly call: string | undefined }> {
    const done = await this.client.threads.restore(threadId, part);
    return { ...this.report(done), call: done.call ?? undefined };
  }

  async blame(threadId: string, path: string): Promise<readonly BlameLine[]> {
    const { lines } = await this.client.threads.blame(threadId, path);
    const authors = new Map<string, BlameAuthor>();
    return lines.map(({ by, ...line }) => (by ? { ...line, by: oneOf(authors, by) } : line));
  }

  /** All changes of files since the first step. */
  async changes(threadId: string): Promise<readonly ShownChange[]> {
    const [first] = await this.steps(threadId);
    if (!first) return [];
    const all: ShownChange[] = [];
    for (let skip: number | undefined = 0; skip !== undefined; ) {
      const page: Awaited<ReturnType<Client["threads"]["diffFiles"]>> = await this.client.threads.diffFiles(
        threadId,
        { from: first.checkpointId, skip },
      );
      all.push(...page.changes.map((change) => this.change(change)));
      skip = page.next;
    }
    return all;
  }

  /** A copy as it was at a step, or as it is now. Returns its id. */
  async copy(threadId: string, checkpointId?: string): Promise<string> {
    return (await this.client.threads.copy(threadId, checkpointId === undefined ? {} : { checkpointId }))
      .thread_id;
  }

  /** Only files of the one directory are put back. Where others lie a server does not say. */
  private report({ restored, conflicts, not_covered: notCovered }: Report): ShownReport {
    return {
      restored: restored.map((change) => this.change(change)),
      conflicts: conflicts.map(({ path, reason, kept_at: keptAt }) => ({
        ...{ path, reason },
        ...(keptAt !== undefined && { keptAt }),
      })),
      notCovered,
    };
  }

  private change({ place, patch, ...change }: FileChanges["changes"][number]): ShownChange {
    const directory = this.directory ?? "the directory of the server";
    return { ...change, patch: patch ?? undefined, ...(place !== undefined && { place: directory }) };
  }
}

type WireAuthor = NonNullable<FileBlame["lines"][number]["by"]>;
type Report = Pick<RestoredThread, "restored" | "conflicts" | "not_covered">;

function pastStep({ checkpoint_id, at, source, summary, changed_files }: ThreadSteps["steps"][number]) {
  return { checkpointId: checkpoint_id, at, source, summary, changedFiles: changed_files };
}

/** Lines of one change share its author. */
function oneOf(authors: Map<string, BlameAuthor>, by: WireAuthor): BlameAuthor {
  const key = JSON.stringify(by);
  const { checkpoint_id: checkpointId, is_restore: isRestore, ...rest } = by;
  const author = authors.get(key) ?? { ...rest, checkpointId, ...(isRestore && { isRestore }) };
  authors.set(key, author);
  return author;
}

function noThread(error: unknown): undefined {
  if (error instanceof ProtocolError && error.status === 404) return undefined;
  throw error;
}
