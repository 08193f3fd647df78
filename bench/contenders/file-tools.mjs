/**
 * The file tools of the two contenders that bring none: the same names and arguments, plain bodies.
 * `run(files, args)` answers the text for the model and, when something changed, the changed files.
 */
import { z } from "zod";

const path = z.string().describe("Absolute path");

export const fileTools = [
  {
    name: "ls",
    description: "Lists the files in a directory.",
    schema: z.object({ path: path.default("/") }),
    run: (files, { path }) => ({ text: under(files, path).join("\n") || `No files found in ${path}` }),
  },
  {
    name: "read_file",
    description: "Reads a file, with line numbers.",
    schema: z.object({ file_path: path, offset: z.number().default(0), limit: z.number().default(100) }),
    run: (files, { file_path, offset, limit }) => {
      const file = files[file_path];
      if (file === undefined) return { text: `Error: file '${file_path}' not found` };
      const page = file.content.split("\n").slice(offset, offset + limit);
      return { text: page.map((line, i) => `${String(offset + i + 1).padStart(6)}\t${line}`).join("\n") };
    },
  },
  {
    name: "write_file",
    description: "Creates a file.",
    schema: z.object({ file_path: path, content: z.string() }),
    run: (_files, { file_path, content }) => ({
      text: `Wrote '${file_path}'`,
      change: { [file_path]: fileOf(content) },
    }),
  },
  {
    name: "edit_file",
    description: "Replaces a text that occurs once in a file.",
    schema: z.object({ file_path: path, old_string: z.string(), new_string: z.string() }),
    run: (files, { file_path, old_string, new_string }) => {
      const file = files[file_path];
      const at = file?.content.indexOf(old_string) ?? -1;
      if (at === -1) return { text: `Error: text not found in '${file_path}'` };
      if (file.content.indexOf(old_string, at + 1) !== -1) return { text: "Error: the text is not unique" };
      const content = file.content.slice(0, at) + new_string + file.content.slice(at + old_string.length);
      return { text: `Edited '${file_path}'`, change: { [file_path]: fileOf(content, file.created_at) } };
    },
  },
  {
    name: "glob",
    description: "Finds files by a part of their path.",
    schema: z.object({ pattern: z.string() }),
    run: (files, { pattern }) => ({
      text: under(files, "/")
        .filter((p) => p.includes(pattern))
        .join("\n"),
    }),
  },
  {
    name: "grep",
    description: "Finds files that contain a text.",
    schema: z.object({ pattern: z.string() }),
    run: (files, { pattern }) => ({
      text: under(files, "/")
        .filter((p) => files[p].content.includes(pattern))
        .join("\n"),
    }),
  },
];

const under = (files, folder) => Object.keys(files).filter((path) => path.startsWith(folder));

function fileOf(content, created_at = new Date().toISOString()) {
  return { content, mimeType: "text/plain", created_at, modified_at: new Date().toISOString() };
}
