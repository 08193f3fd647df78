import { z } from "zod";
import { once } from "../once.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { type FileAnswer, type FileCall, type FileToolOptions, fileTool } from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";
import { withSimilarPath } from "./similar-path.ts";

const schema = once(() =>
  lenientObject(
    {
      file_path: z.string().describe("Absolute path"),
      old_string: z.string().describe("Text to replace, exactly as in the file"),
      new_string: z.string(),
      replace_all: z.boolean().optional().describe("Replace every occurrence; default false"),
    },
    { aliases: { path: "file_path" }, booleans: ["replace_all"] },
  ),
);

export const EDIT_FILE_DESCRIPTION =
  "Replace text in a file. Read the file first. old_string must match exactly, whitespace included, " +
  "and occur once unless replace_all is set.";

export function createEditFileTool(options: FileToolOptions): BuiltInTool {
  return fileTool({
    name: "edit_file",
    description: EDIT_FILE_DESCRIPTION,
    schema: schema(),
    options,
    changesFiles: true,
    run: edit,
  });
}

async function edit(args: z.output<ReturnType<typeof schema>>, call: FileCall): Promise<FileAnswer> {
  const file = call.locate(args.file_path);
  if (file.error !== undefined) return file;
  const result = await call.backend.edit(
    file.path,
    args.old_string,
    args.new_string,
    args.replace_all ?? false,
    {
      signal: call.signal,
    },
  );
  if (result.error !== undefined) return withSimilarPath(result, file.path, call);
  return {
    text: `Successfully replaced ${result.occurrences} occurrence(s) in '${file.path}'`,
    filesUpdate: result.filesUpdate,
    metadata: result.metadata,
  };
}
