/** The files of the directories that the agents work in. */
import type { BackendProtocol, FileInfo } from "deepwright";
import { HeldAnswer } from "../http/held-answer.ts";
import { Problem } from "../http/problems.ts";
import { agentNamed } from "./assistant-routes.ts";
import type { Call, Handlers } from "./call.ts";
import { problemFor, readFileOf, saveFileOf } from "./file-of-backend.ts";
import { PageText } from "./listing.ts";

export const workspaceRoutes: Handlers<"workspace"> = {
  "workspace.list": async (call) => {
    const { path, after = "" } = call.query;
    const listed = await (await backendOf(call)).ls(path, { signal: call.request.signal });
    if (listed.error !== undefined) throw problemFor(listed.code, listed.error);
    const page = new PageText(call);
    let last: string | undefined;
    for (const entry of listed.files.toSorted((left, right) => (left.path < right.path ? -1 : 1))) {
      if (entry.path <= after) continue;
      if (!page.add(shownEntry(entry))) return listOf(page, last);
      last = entry.path;
    }
    return listOf(page);
  },

  "workspace.read": async (call) => readFileOf(call, await backendOf(call), call.query.path),

  "workspace.save": async (call) => saveFileOf(call, await backendOf(call), call.body),
};

async function backendOf(
  call: Pick<Call, "services" | "caller"> & Parameters<typeof agentNamed>[0],
): Promise<BackendProtocol> {
  const { workspace } = call.services;
  const agent = await agentNamed(call);
  const backend = typeof workspace === "function" ? workspace(call.caller, agent) : workspace;
  if (backend) return backend;
  throw new Problem("NOT_SUPPORTED", "This server shows no files of a workspace.");
}

function shownEntry({ path, is_dir = false, size, modified_at }: FileInfo) {
  return {
    path: is_dir ? path.replace(/(?<=.)\/$/, "") : path,
    is_dir,
    ...(size !== undefined && !is_dir && { size }),
    ...(modified_at !== undefined && { modified_at }),
  };
}

function listOf(page: PageText, next?: string): HeldAnswer {
  return new HeldAnswer(
    `{"entries":${page.list}${next === undefined ? "" : `,"next":${JSON.stringify(next)}`}}`,
  );
}
