/** Lets a person change the arguments of a call: in their editor, or on a line. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isRecord } from "../run/stream-part.ts";
import type { Prompt } from "../terminal/prompt.ts";
import { revealedJson, revealedLine } from "../terminal/revealed-text.ts";

export type Edited = { readonly args: Record<string, unknown> } | { readonly problem: string };

/** What fits on a line one can still edit. */
const MOST_INLINE = 2_000;

export async function editedArguments(
  args: Record<string, unknown>,
  prompt: Prompt,
  environment: NodeJS.ProcessEnv,
): Promise<Edited> {
  const editor = environment.VISUAL || environment.EDITOR;
  if (editor) return inEditor(args, editor, environment);
  const json = revealedJson(JSON.stringify(args));
  if (json.length > MOST_INLINE)
    return { problem: "These arguments are too long for a line. Set EDITOR to edit them." };
  return parsed(await prompt.line("arguments: ", json));
}

/** The file is for this user alone, and gone afterwards. */
async function inEditor(
  args: Record<string, unknown>,
  editor: string,
  environment: NodeJS.ProcessEnv,
): Promise<Edited> {
  const directory = await mkdtemp(join(tmpdir(), "deepwright-edit-"));
  const file = join(directory, "arguments.json");
  try {
    await writeFile(file, `${revealedJson(JSON.stringify(args, undefined, 2))}\n`, { mode: 0o600 });
    const problem = await opened(editor, file, environment);
    return problem === undefined ? parsed(await readFile(file, "utf8")) : { problem };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * EDITOR is a command with arguments, as in a shell. It is the person's own program and gets their variables. It starts in
 * the private directory: many editors follow settings that lie where they start, and the workspace may be anybody's.
 */
async function opened(
  editor: string,
  file: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { startProgram } = await import("deepwright");
  const env = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const [shell, words] =
    process.platform === "win32"
      ? [environment.ComSpec ?? "cmd.exe", ["/d", "/s", "/c", `"${editor} "${file}""`]]
      : ["/bin/sh", ["-c", `${editor} '${file.replaceAll("'", "'\\''")}'`]];
  const place = { cwd: dirname(file), env, stdio: "inherit", group: "shared", verbatim: true } as const;
  const child = startProgram(shell, words, place);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(`The editor did not start: ${revealedLine(error.message)}`));
    child.on("close", (code) =>
      resolve(code === 0 ? undefined : "The editor failed: the arguments are as before."),
    );
  });
}

function parsed(text: string): Edited {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { args: value } : { problem: "The arguments must be a JSON object." };
  } catch (error) {
    return {
      problem: `That is no JSON: ${revealedLine(String((error as Error).message).replaceAll("\n", " "))}`,
    };
  }
}
