import { z } from "zod";
import { once } from "../once.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import { type FileAnswer, type FileCall, type FileToolOptions, fileTool } from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() =>
  lenientObject(
    { file_path: z.string().describe("Absolute path"), content: z.string() },
    { aliases: { path: "file_path" } },
  ),
);

export const WRITE_FILE_DESCRIPTION = "Create a file. Fails if it exists: edit it instead.";
export const OVERWRITE_FILE_DESCRIPTION = "Create a file, or replace all of its content.";

export function createWriteFileTool(options: FileToolOptions): BuiltInTool {
  const overwrite = options.overwrite === true;
  return fileTool({
    name: "write_file",
    description: overwrite ? OVERWRITE_FILE_DESCRIPTION : WRITE_FILE_DESCRIPTION,
    schema: schema(),
    options,
    changesFiles: true,
    run: (args, call) => write(args, call, overwrite),
  });
}

async function write(
  args: z.output<ReturnType<typeof schema>>,
  call: FileCall,
  overwrite: boolean,
): Promise<FileAnswer> {
  const file = call.locate(args.file_path);
  if (file.error !== undefined) return file;
  const result = await call.backend.write(file.path, args.content, { overwrite, signal: call.signal });
  if (result.error !== undefined) return result;
  return {
    text: `Successfully wrote to '${file.path}'`,
    filesUpdate: result.filesUpdate,
    metadata: result.metadata,
  };
}
