/** The files in a thread's state. */

import { type FileChange, fileContent, openThreads } from "@deepwright/checkpoint";
import type { FileChanges, ThreadFiles } from "@deepwright/protocol";
import { HeldAnswer } from "../http/held-answer.ts";
import { notFound } from "../http/problems.ts";
import type { Call, Handlers } from "./call.ts";
import { fileAnswer } from "./file-answer.ts";
import { PageText } from "./listing.ts";
import { type CheckpointRef, hasCheckpoint, readingConfig, readingThread } from "./thread-parts.ts";

type FileRoutes = Pick<Handlers<"threads">, "threads.files" | "threads.readFile" | "threads.diffFiles">;

export const threadFileRoutes: FileRoutes = {
  "threads.files": async (call) => {
    const { checkpoint_id: checkpointId, after = "", path } = call.query;
    const files = await filesOf(call, { threadId: call.parameters.thread_id, checkpointId });
    const below = path === undefined ? "" : path.replace(/\/$/, "");
    const listed = Object.keys(files)
      .filter((name) => name > after && (below === "" || name === below || name.startsWith(`${below}/`)))
      .sort();
    const page = new PageText(call);
    let last: string | undefined;
    for (const name of listed) {
      const facts = factsOf(name, files[name]);
      if (facts && !page.add(facts)) return pageOf("files", page, last);
      last = name;
    }
    return pageOf("files", page);
  },

  "threads.readFile": readFile,

  "threads.diffFiles": async (call) => {
    const { services, owner, query } = call;
    const threadId = call.parameters.thread_id;
    const page = new PageText(call);
    const next = await readingThread(services, owner, threadId, async () => {
      let position = query.skip;
      for await (const [behind, change] of changesIn(call)) {
        if (!page.add(shownChange(change))) return position;
        position = behind;
      }
      return undefined;
    });
    return pageOf("changes", page, next);
  },
};

/** A list of its own name, and where the next page begins. */
function pageOf(name: string, page: PageText, next?: string | number): HeldAnswer {
  return new HeldAnswer(
    `{"${name}":${page.list}${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}`,
  );
}

/** A file is compared when it is asked for. */
async function* changesIn({ parameters, query, services, held }: Call<"threads.diffFiles">) {
  const threadId = parameters.thread_id;
  const head = (await services.saver.storage.readTuple(threadId, "", undefined))?.checkpoint.id;
  if (head === undefined) return;
  for (const checkpointId of [query.from, query.to])
    if (checkpointId !== undefined && !(await hasCheckpoint(services, { threadId, checkpointId })))
      throw notFound("checkpoint");
  const until = query.to ?? head;
  const reading = {
    path: query.path,
    skip: query.skip,
    mostBytes: services.limits.held.caller,
    admit: held.add,
  };
  const threads = openThreads(services.saver);
  yield* query.from === undefined
    ? threads.changes(threadId, until, reading)
    : threads.changes(threadId, query.from, { ...reading, to: until });
}

function shownChange({ path, place, kind, patch }: FileChange): FileChanges["changes"][number] {
  // Only whether it lies outside the state: where is the machine's own business.
  return { path, kind, patch: patch ?? null, ...(place !== undefined && { place: "outside" }) };
}

type Files = Readonly<Record<string, unknown>>;

/** Works for states that are too large to be answered as a whole, too. */
async function filesOf(
  call: Pick<Call, "services" | "owner" | "held">,
  place: CheckpointRef,
): Promise<Files> {
  const { services, owner } = call;
  const tuple = await readingThread(services, owner, place.threadId, () =>
    services.saver.getTuple(readingConfig(call, place, services.limits.held.caller)),
  );
  if (!tuple && place.checkpointId != null) throw notFound("checkpoint");
  const { files } = (tuple?.checkpoint.channel_values ?? {}) as { files?: Files };
  return typeof files === "object" && files !== null ? files : {};
}

function factsOf(path: string, file: unknown): ThreadFiles["files"][number] | undefined {
  const content = fileContent(file);
  if (content === undefined) return undefined;
  const { modifiedAt, modified_at } = file as { modifiedAt?: string; modified_at?: string };
  return { path, size: Buffer.byteLength(content), modified_at: modifiedAt ?? modified_at ?? null };
}

async function readFile(call: Call<"threads.readFile">): Promise<HeldAnswer> {
  const { parameters, query } = call;
  const place = { threadId: parameters.thread_id, checkpointId: query.checkpoint_id };
  const files = await filesOf(call, place);
  const content = Object.hasOwn(files, query.path) ? fileContent(files[query.path]) : undefined;
  if (content === undefined) throw notFound("file");
  return fileAnswer(query.path, content);
}
