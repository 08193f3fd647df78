import { z } from "zod";
import { offersDelete } from "../backends/offered-delete.ts";
import { once } from "../once.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { type FileAnswer, type FileCall, type FileToolOptions, fileTool } from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() =>
  lenientObject({ file_path: z.string().describe("Absolute path") }, { aliases: { path: "file_path" } }),
);

export const DELETE_DESCRIPTION = "Delete a file, or a directory with all that is in it.";

export function createDeleteTool(options: FileToolOptions): BuiltInTool {
  return fileTool({
    name: "delete",
    description: DELETE_DESCRIPTION,
    schema: schema(),
    options,
    changesFiles: true,
    run: remove,
  });
}

async function remove(args: z.output<ReturnType<typeof schema>>, call: FileCall): Promise<FileAnswer> {
  const file = call.locate(args.file_path);
  if (file.error !== undefined) return file;
  if (!offersDelete(call.backend)) return { error: "Files cannot be deleted here", code: "UNAVAILABLE" };
  const result = await call.backend.delete(file.path, { signal: call.signal });
  if (result.error !== undefined) return result;
  return {
    text: `Successfully deleted '${file.path}'`,
    filesUpdate: result.filesUpdate,
    metadata: result.metadata,
  };
}
