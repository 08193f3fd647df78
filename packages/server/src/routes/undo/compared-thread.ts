/** One side of a comparison: what a thread answered, changed, ran and used. */
import { compareThreads, openThreads } from "@deepwright/checkpoint";
import type { ComparedThreads } from "@deepwright/protocol";
import type { Call } from "../call.ts";
import type { Services } from "../services.ts";
import { hasCheckpoint, readingConfig, readingThread, threadOf } from "../thread-parts.ts";
import { reportOf } from "../usage-routes.ts";
import { commandsIn } from "./commands-in.ts";

type Compared = ComparedThreads["threads"][number];
type CallParts = Pick<Call, "services" | "owner" | "held">;

const MOST_COMMANDS = 100;
const MOST_CHANGES = 1_000;
const MOST_RUNS = 5_000;

export async function comparedThread(call: CallParts, threadId: string): Promise<Compared> {
  const { services, owner } = call;
  const { status } = await threadOf(services, owner, threadId);
  const ended = await services.records.runs.ended(owner, { threadId, since: 0, limit: MOST_RUNS });
  const common = { thread_id: threadId, status, usage: reportOf(ended).total };
  return readingThread(services, owner, threadId, async () => {
    if (!(await hasCheckpoint(services, { threadId })))
      return { ...common, answer: "", steps: 0, commands: [], changes: [] };
    return { ...common, ...(await storedFacts(call, threadId)) };
  });
}

async function storedFacts(
  call: CallParts,
  threadId: string,
): Promise<Omit<Compared, "thread_id" | "status" | "usage">> {
  const { services } = call;
  // Refuses a state that is too large before the comparison reads it.
  const tuple = await services.saver.getTuple(readingConfig(call, { threadId }, services.limits.held.caller));
  const [compared] = await compareThreads(services.saver, [threadId]);
  const { steps } = await openThreads(services.saver).show(threadId);
  const check = compared?.check;
  return {
    answer: compared?.answer ?? "",
    steps: steps.length,
    ...(compared?.model !== undefined && { model: compared.model }),
    commands: [
      ...commandsIn(tuple?.checkpoint.channel_values.messages).slice(-MOST_COMMANDS),
      ...(check ? [{ command: check.command, exit_code: check.exitCode, is_check: true }] : []),
    ],
    changes:
      compared?.forkOf === undefined
        ? await changesOf(call, threadId, steps[0]?.checkpointId)
        : compared.changes.slice(0, MOST_CHANGES).map(shownChange),
  };
}

async function changesOf(
  { services, held }: Pick<Call, "held"> & { readonly services: Services },
  threadId: string,
  first: string | undefined,
): Promise<Compared["changes"]> {
  if (first === undefined) return [];
  const changes: Compared["changes"] = [];
  const range = {
    to: (await services.saver.storage.readTuple(threadId, "", undefined))?.checkpoint.id,
    mostBytes: services.limits.held.caller,
    admit: held.add,
  };
  for await (const [, change] of openThreads(services.saver).changes(threadId, first, range)) {
    changes.push(shownChange(change));
    if (changes.length === MOST_CHANGES) break;
  }
  return changes;
}

interface Change {
  readonly path: string;
  readonly place?: string;
  readonly kind: "created" | "changed" | "deleted";
  readonly patch: string | undefined;
}

function shownChange({ path, place, kind, patch }: Change): Compared["changes"][number] {
  const lines = patch?.split("\n") ?? [];
  const count = (sign: string): number =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length;
  return {
    ...{ path, kind },
    ...(place !== undefined && { place: "outside" }),
    added: patch === undefined ? null : count("+"),
    removed: patch === undefined ? null : count("-"),
  };
}
