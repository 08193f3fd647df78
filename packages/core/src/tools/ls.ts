import { z } from "zod";
import { once } from "../once.ts";
import { showPath } from "../paths.ts";
import { boundedLines } from "../text/bounded-list.ts";
import type { BuiltInTool } from "./built-in-tool.ts";
import {
  type FileAnswer,
  type FileCall,
  type FileToolOptions,
  fileTool,
  skippedRemark,
} from "./file-tool.ts";
import { lenientObject } from "./lenient-object.ts";

const schema = once(() =>
  lenientObject(
    { path: z.string().optional().describe("Directory; default: the one you work in") },
    { aliases: { file_path: "path" } },
  ),
);

export const LS_DESCRIPTION = "List a directory. Names of directories end with /.";

export function createLsTool(options: FileToolOptions): BuiltInTool {
  return fileTool({ name: "ls", description: LS_DESCRIPTION, schema: schema(), options, run: list });
}

async function list(args: z.output<ReturnType<typeof schema>>, call: FileCall): Promise<FileAnswer> {
  const directory = call.locate(args.path);
  if (directory.error !== undefined) return directory;
  const { path } = directory;
  const result = await call.backend.ls(path, { signal: call.signal });
  if (result.error !== undefined) return result;
  const remark = skippedRemark(result.skipped);
  if (result.files.length === 0) return `No files found in ${path}${remark}`;
  const { text, left } = boundedLines(result.files, ({ path, is_dir }) =>
    showPath(is_dir && !path.endsWith("/") ? `${path}/` : path),
  );
  return `${text}${left > 0 ? `\n[${left} more entries]` : ""}${remark}`;
}
