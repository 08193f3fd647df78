/** The files of the directory that a server works in. */
import { z } from "zod";
import { filePath } from "./thread-work.ts";

/** An agent of a server whose agents work in different directories. */
export const inDirectoryOf = z.object({
  assistant_id: z
    .string()
    .max(128)
    .optional()
    .describe("The agent or assistant whose directory is meant. Default: the first agent of the server."),
});

export const listWorkspaceQuery = inDirectoryOf.extend({
  path: filePath.default("/").describe("The directory."),
  after: z.string().max(4096).optional().describe("`next` of the page before."),
});

export const workspaceEntries = z.object({
  entries: z.array(
    z.object({
      path: z.string(),
      is_dir: z.boolean(),
      size: z.number().int().min(0).optional().describe("Bytes."),
      modified_at: z.string().optional(),
    }),
  ),
  next: z.string().optional().describe("Hand it back as `after` for the next page; absent on the last."),
});
export type WorkspaceEntries = z.infer<typeof workspaceEntries>;

export const readWorkspaceQuery = inDirectoryOf.extend({ path: filePath });

export const saveWorkspaceFile = z.object({ path: filePath, content: z.string().max(8 * 1024 * 1024) });
export type SaveWorkspaceFile = z.infer<typeof saveWorkspaceFile>;

export const savedWorkspaceFile = z.object({
  path: z.string(),
  etag: z.string().describe("For `If-Match` of the next save."),
});
export type SavedWorkspaceFile = z.infer<typeof savedWorkspaceFile>;
