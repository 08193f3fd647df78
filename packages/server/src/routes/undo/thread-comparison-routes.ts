/** Two threads side by side, and making the changes of one. Only directories that the server names are written to. */
import { adoptFork, compareThreads } from "@deepwright/checkpoint";
import type { RestoredThread } from "@deepwright/protocol";
import { Problem } from "../../http/problems.ts";
import type { ThreadHead } from "../../records/records.ts";
import type { Call, Handlers } from "../call.ts";
import type { Services } from "../services.ts";
import { graphOfThread, readingThread, threadOf, writingThread } from "../thread-parts.ts";
import { noteState } from "../thread-state-routes.ts";
import { comparedThread } from "./compared-thread.ts";
import { rootsFor } from "./thread-undo-routes.ts";
import { shownReport } from "./undo-report.ts";

type ComparisonRoutes = Pick<Handlers<"threads">, "threads.compare" | "threads.adopt">;

export const threadComparisonRoutes: ComparisonRoutes = {
  "threads.compare": async (call) => {
    const { thread_id: one, other_thread_id: other } = call.parameters;
    // Both are looked up before either is read.
    await threadOf(call.services, call.owner, one);
    await threadOf(call.services, call.owner, other);
    return { threads: [await comparedThread(call, one), await comparedThread(call, other)] };
  },

  "threads.adopt": async (call) => adopt(call),
};

async function adopt({ services, owner, parameters, body }: Call<"threads.adopt">): Promise<RestoredThread> {
  const threadId = parameters.thread_id;
  const thread = await threadOf(services, owner, threadId);
  const root = await directoryFor(services, thread);
  if (body.dry_run) {
    const plan = await readingThread(services, owner, threadId, () =>
      adoptFork(services.saver, threadId, { root, dryRun: true }),
    );
    return { ...shownReport(plan), call: null };
  }
  if (thread.status === "busy") throw new Problem("THREAD_BUSY", "The thread has a run that has not ended.");
  const graph = await graphOfThread(services, thread);
  return writingThread(services, thread, async (claim) => {
    const { call, ...report } = await adoptFork(services.saver, threadId, { root, claim });
    if (graph) await noteState(services, graph, thread);
    return { ...shownReport(report), call: call ?? null };
  });
}

/** A fork names the directory that it was made of; every other thread worked in that of its agent. */
async function directoryFor(services: Services, head: ThreadHead): Promise<string> {
  const roots = rootsFor(services, head);
  const [first] = roots;
  if (first === undefined)
    throw new Problem("NOT_SUPPORTED", "This server names no directory whose files it restores.");
  const [thread] = await compareThreads(services.saver, [head.thread_id]);
  return roots.find((root) => root === thread?.forkOf) ?? first;
}
