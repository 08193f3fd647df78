/** The files of the directory that the server works in. */
import type { BackendProtocol, FileInfo } from "deepwright";
import { HeldAnswer } from "../http/held-answer.ts";
import { Problem } from "../http/problems.ts";
import type { Call, Handlers } from "./call.ts";
import { problemFor, readFileOf, saveFileOf } from "./file-of-backend.ts";
import { PageText } from "./listing.ts";

export const workspaceRoutes: Handlers<"workspace"> = {
  "workspace.list": async (call) => {
    const { path, after = "" } = call.query;
    const listed = await backendOf(call).ls(path, { signal: call.request.signal });
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

  "workspace.read": async (call) => readFileOf(call, backendOf(call), call.query.path),

  "workspace.save": async (call) => saveFileOf(call, backendOf(call), call.body),
};

function backendOf({ services, caller }: Pick<Call, "services" | "caller">): BackendProtocol {
  const { workspace } = services;
  const backend = typeof workspace === "function" ? workspace(caller) : workspace;
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
