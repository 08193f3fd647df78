/** The tool `memory`: notes in a file that stands in the prompt of every thread of the workspace. */
import { tool } from "@langchain/core/tools";
import type { FilesystemBackend } from "deepwright";
import { z } from "zod";

const MOST_CHARACTERS = 1_000;

const note = z
  .string()
  .trim()
  .min(1)
  .max(MOST_CHARACTERS)
  .refine((text) => !/[\r\n\u2028\u2029\0]/.test(text), "must be one line")
  .describe("One line");

/** A note is a line `- …` of the file; other lines stay. */
export function memoryTool(files: FilesystemBackend, path: string) {
  let last: Promise<unknown> = Promise.resolve();
  /** Two calls of one turn would read the same file. */
  const inTurn = <T>(act: () => Promise<T>): Promise<T> => {
    const next = last.then(act, act);
    last = next.catch(() => {});
    return next;
  };
  return tool(
    ({ action, note: text }) => inTurn(() => (action === "add" ? add : forget)(files, path, `- ${text}`)),
    {
      name: "memory",
      description: `Keeps a note in ${path}, which you are shown in every conversation in this workspace, or forgets one. For preferences, corrections and lasting facts of the user; never for secrets, nor for what concerns this task only.`,
      schema: z.object({ action: z.enum(["add", "forget"]), note }),
    },
  );
}

async function add(files: FilesystemBackend, path: string, line: string): Promise<string> {
  const lines = await linesOf(files, path);
  if (lines?.includes(line)) return "That is noted already.";
  const kept = (lines ?? []).join("\n").trimEnd();
  return written(files, path, `${kept === "" ? "" : `${kept}\n`}${line}\n`, "Noted.");
}

async function forget(files: FilesystemBackend, path: string, line: string): Promise<string> {
  const lines = (await linesOf(files, path)) ?? [];
  if (!lines.includes(line)) throw new Error(`There is no note '${line.slice(2)}' in ${path}.`);
  return written(files, path, lines.filter((each) => each !== line).join("\n"), "Forgotten.");
}

/** Undefined: the file does not exist. */
async function linesOf(files: FilesystemBackend, path: string): Promise<string[] | undefined> {
  const read = await files.readRaw(path);
  if (read.error === undefined) {
    const { content } = read.data;
    if (typeof content === "string") return content.split(/\r?\n/);
    if (Array.isArray(content)) return content;
    throw new Error(`${path} is not a text.`);
  }
  if (read.code === "FILE_NOT_FOUND") return undefined;
  throw new Error(read.error);
}

async function written(
  files: FilesystemBackend,
  path: string,
  content: string,
  words: string,
): Promise<string> {
  const { error } = await files.write(path, content, { overwrite: true });
  if (error !== undefined) throw new Error(error);
  return words;
}
