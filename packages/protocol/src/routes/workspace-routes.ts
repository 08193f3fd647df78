import {
  inDirectoryOf,
  listWorkspaceQuery,
  readWorkspaceQuery,
  savedWorkspaceFile,
  saveWorkspaceFile,
  workspaceEntries,
} from "../workspace.ts";
import type { Route } from "./route.ts";

export const workspaceRoutes = [
  {
    name: "workspace.list",
    method: "GET",
    path: "/workspace/files",
    summary: "Lists one directory of the workspace.",
    query: listWorkspaceQuery,
    answer: workspaceEntries,
    problems: ["NOT_FOUND", "NOT_SUPPORTED"],
    standard: false,
  },
  {
    name: "workspace.read",
    method: "GET",
    path: "/workspace/files/content",
    summary: "Gives one file as an attachment; `ETag` is for `If-Match` of a save.",
    query: readWorkspaceQuery,
    answer: "bytes",
    problems: ["NOT_FOUND", "TOO_LARGE", "NOT_SUPPORTED"],
    standard: false,
  },
  {
    name: "workspace.save",
    method: "PUT",
    path: "/workspace/files/content",
    summary: "Replaces a file that is still as `If-Match` says, or creates one with `If-None-Match: *`.",
    query: inDirectoryOf,
    body: saveWorkspaceFile,
    answer: savedWorkspaceFile,
    problems: ["NOT_FOUND", "CHANGED", "NOT_SUPPORTED"],
    standard: false,
  },
] as const satisfies readonly Route[];
