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
    {
      pattern: z.string().describe("Relative to path, like *.py or src/**/*.{ts,tsx}"),
      path: z.string().optional().describe("Directory to search; default: the one you work in"),
    },
    { aliases: { file_path: "path" } },
  ),
);

export const GLOB_DESCRIPTION =
  "Find files by name with * ** ? [abc] {a,b}. A pattern without / matches at any depth.";

export function createGlobTool(options: FileToolOptions): BuiltInTool {
  return fileTool({ name: "glob", description: GLOB_DESCRIPTION, schema: schema(), options, run: find });
}

async function find(args: z.output<ReturnType<typeof schema>>, call: FileCall): Promise<FileAnswer> {
  const directory = call.locate(args.path);
  if (directory.error !== undefined) return directory;
  const result = await call.backend.glob(args.pattern, directory.path, { signal: call.signal });
  if (result.error !== undefined) return result;
  const remark =
    (result.timedOut ? "\n[The time was up before all was searched: name a smaller path]" : "") +
    skippedRemark(result.skipped);
  if (result.files.length === 0) return `No files found matching pattern '${args.pattern}'${remark}`;
  const { text, left } = boundedLines(result.files, (file) => showPath(file.path));
  if (left > 0) return `${text}\n[${left} more files: narrow the pattern]${remark}`;
  const isCapped = result.truncated && !result.timedOut;
  return `${text}${isCapped ? "\n[There are more files: narrow the pattern]" : ""}${remark}`;
}
