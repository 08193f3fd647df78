/** The steps of a thread, and taking back what they did to files. Only directories that the server names are written to. */
import {
  type Blame,
  openThreads,
  type RewindOptions,
  type ThreadClaim,
  type ThreadStep,
} from "@deepwright/checkpoint";
import type { FileBlame, RestoredThread, RewoundThread, ThreadSteps } from "@deepwright/protocol";
import { HeldAnswer } from "../../http/held-answer.ts";
import { notFound, Problem } from "../../http/problems.ts";
import type { ThreadHead } from "../../records/records.ts";
import type { Call, Handlers } from "../call.ts";
import { PageText } from "../listing.ts";
import type { Services } from "../services.ts";
import { graphOfThread, hasCheckpoint, readingThread, threadOf, writingThread } from "../thread-parts.ts";
import { noteState } from "../thread-state-routes.ts";
import { shownReport } from "./undo-report.ts";

type UndoRoutes = Pick<
  Handlers<"threads">,
  "threads.steps" | "threads.rewind" | "threads.restore" | "threads.blame"
>;

export const threadUndoRoutes: UndoRoutes = {
  "threads.steps": async (call) => {
    const { services, owner, parameters, query } = call;
    const threadId = parameters.thread_id;
    const steps = await readingThread(services, owner, threadId, async () =>
      (await hasCheckpoint(services, { threadId }))
        ? (await openThreads(services.saver).show(threadId)).steps
        : [],
    );
    const page = new PageText(call);
    const next = steps.findIndex((step, index) => index >= query.skip && !page.add(shownStep(step)));
    return new HeldAnswer(`{"steps":${page.list}${next < 0 ? "" : `,"next":${next}`}}`);
  },

  "threads.rewind": async (call): Promise<RewoundThread> => {
    const { services, body } = call;
    const threadId = call.parameters.thread_id;
    const result = await undoing(call, body.checkpoint_id, body.dry_run, (options) =>
      openThreads(services.saver).rewind(threadId, body.checkpoint_id, {
        ...options,
        ...(body.files === false && { roots: [] }),
      }),
    );
    return {
      ...shownReport(result),
      checkpoint_id: result.checkpointId ?? null,
      previous_id: result.previousId,
    };
  },

  "threads.restore": async (call): Promise<RestoredThread> => {
    const { services, body } = call;
    const { path, call: toolCall, agent, checkpoint_id: step, since } = body;
    const part = { path, call: toolCall, agent, step, since };
    const result = await undoing(call, step ?? since, body.dry_run, (options) =>
      openThreads(services.saver).restore(call.parameters.thread_id, part, options),
    );
    return { ...shownReport(result), call: result.call ?? null };
  },

  "threads.blame": async ({ services, owner, parameters, query }): Promise<FileBlame> => {
    const threadId = parameters.thread_id;
    return readingThread(services, owner, threadId, async () => {
      if (services.restoreRoots.length === 0)
        throw new Problem("NOT_SUPPORTED", "This server names no directory whose files it restores.");
      const roots = rootsFor(services, await threadOf(services, owner, threadId));
      return shownBlame(await blameIn(services.saver, threadId, query.path, roots));
    });
  },
};

function shownStep({
  checkpointId,
  changedFiles,
  messageId,
  messageCount: _,
  ...rest
}: ThreadStep): ThreadSteps["steps"][number] {
  return {
    ...rest,
    checkpoint_id: checkpointId,
    changed_files: [...changedFiles],
    calls: [...rest.calls],
    ...(messageId !== undefined && { message_id: messageId }),
  };
}

/** Under a claim of the thread, unless nothing is to be written. */
async function undoing<Result>(
  {
    services,
    owner,
    parameters,
  }: Pick<Call, "services" | "owner"> & { readonly parameters: { thread_id: string } },
  checkpointId: string | undefined,
  dryRun: boolean | undefined,
  act: (options: RewindOptions & { readonly claim?: ThreadClaim }) => Promise<Result>,
): Promise<Result> {
  const threadId = parameters.thread_id;
  const thread = await threadOf(services, owner, threadId);
  if (checkpointId !== undefined && !(await hasCheckpoint(services, { threadId, checkpointId })))
    throw notFound("checkpoint");
  const roots = services.restoreRoots;
  if (dryRun) return readingThread(services, owner, threadId, () => act({ roots, dryRun: true }));
  if (thread.status === "busy") throw new Problem("THREAD_BUSY", "The thread has a run that has not ended.");
  const graph = await graphOfThread(services, thread);
  return writingThread(services, thread, async (claim) => {
    const result = await act({ roots, claim });
    if (graph) await noteState(services, graph, thread);
    return result;
  });
}

/** Directories of the server, that of the thread's agent first. */
export function rootsFor(
  { restoreRoots, settings }: Services,
  { metadata: { graph_id: agent } }: Pick<ThreadHead, "metadata">,
): readonly string[] {
  const own = typeof agent === "string" ? settings(agent)?.directory : undefined;
  return restoreRoots.toSorted((one, other) => Number(other === own) - Number(one === own));
}

/** The first directory in which the thread changed the file. */
async function blameIn(
  saver: Services["saver"],
  threadId: string,
  path: string,
  roots: readonly string[],
): Promise<Blame> {
  const threads = openThreads(saver);
  for (const root of roots) {
    try {
      return await threads.blame(threadId, path, root);
    } catch (error) {
      const { code } = error as { code?: unknown };
      if (code !== "INVALID_INPUT" && code !== "THREAD_NOT_FOUND") throw error;
    }
  }
  throw notFound("file");
}

function shownBlame({ path, lines }: Blame): FileBlame {
  return {
    path,
    lines: lines.map(({ line, text, by }) => {
      if (by === undefined) return { line, text };
      const { checkpointId, isRestore, ...rest } = by;
      return {
        ...{ line, text },
        by: {
          ...rest,
          checkpoint_id: checkpointId,
          ...(isRestore !== undefined && { is_restore: isRestore }),
        },
      };
    }),
  };
}
