/** The files in a thread's state. */

import { fileContent, openThreads } from "@deepwright/checkpoint";
import type { FileChanges, ThreadFiles } from "@deepwright/protocol";
import { notFound } from "../http/problems.ts";
import type { Call, Handlers } from "./call.ts";
import type { Services } from "./services.ts";
import { configOf, type PlaceInThread, readingThread } from "./thread-parts.ts";

type FileRoutes = Pick<Handlers<"threads">, "threads.files" | "threads.readFile" | "threads.diffFiles">;

export const threadFileRoutes: FileRoutes = {
  "threads.files": async ({ owner, parameters, query, services }): Promise<ThreadFiles> => {
    const { thread_id: threadId } = parameters;
    const files = await filesOf(services, owner, { threadId, checkpointId: query.checkpoint_id });
    const below = query.path === undefined ? "" : query.path.replace(/\/$/, "");
    const listed = Object.keys(files)
      .filter((path) => below === "" || path === below || path.startsWith(`${below}/`))
      .sort();
    return { files: listed.flatMap((path) => factsOf(path, files[path])) };
  },

  "threads.readFile": readFile,

  "threads.diffFiles": async ({ owner, parameters, query, services }): Promise<FileChanges> => {
    const threadId = parameters.thread_id;
    const changes = await readingThread(services, owner, threadId, async () => {
      const head = (await services.saver.getTuple(configOf({ threadId })))?.checkpoint.id;
      if (head === undefined) return [];
      const until = query.to ?? head;
      for (const id of [query.from, query.to])
        if (id !== undefined && !(await services.saver.getTuple(configOf({ threadId, checkpointId: id }))))
          throw notFound("checkpoint");
      const threads = openThreads(services.saver);
      return query.from === undefined
        ? threads.diff(threadId, until)
        : threads.diff(threadId, query.from, { to: until });
    });
    return {
      changes: changes.map(({ path, place, kind, patch }) => ({
        path,
        kind,
        patch: patch ?? null,
        // Only whether it lies outside the state: where is the machine's own business.
        ...(place !== undefined && { place: "outside" }),
      })),
    };
  },
};

type Files = Readonly<Record<string, unknown>>;

async function filesOf(services: Services, owner: string, place: PlaceInThread): Promise<Files> {
  const tuple = await readingThread(services, owner, place.threadId, () =>
    services.saver.getTuple(configOf(place)),
  );
  if (!tuple && place.checkpointId != null) throw notFound("checkpoint");
  const { files } = (tuple?.checkpoint.channel_values ?? {}) as { files?: Files };
  return typeof files === "object" && files !== null ? files : {};
}

function factsOf(path: string, file: unknown): ThreadFiles["files"] {
  const content = fileContent(file);
  if (content === undefined) return [];
  const { modifiedAt, modified_at } = file as { modifiedAt?: string; modified_at?: string };
  return [{ path, size: Buffer.byteLength(content), modified_at: modifiedAt ?? modified_at ?? null }];
}

/** Never shown in the server's own origin: what an agent wrote may be a page with a script. */
async function readFile({ owner, parameters, query, services }: Call<"threads.readFile">): Promise<Response> {
  const place = { threadId: parameters.thread_id, checkpointId: query.checkpoint_id };
  const files = await filesOf(services, owner, place);
  const content = Object.hasOwn(files, query.path) ? fileContent(files[query.path]) : undefined;
  if (content === undefined) throw notFound("file");
  const name = query.path.slice(query.path.lastIndexOf("/") + 1);
  return new Response(content as BodyInit, {
    headers: {
      "content-type": typeof content === "string" ? "text/plain; charset=utf-8" : "application/octet-stream",
      "content-disposition": `attachment; filename*=UTF-8''${encoded(name)}`,
      "content-security-policy": "sandbox; default-src 'none'",
    },
  });
}

function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
