/** A text in the person's own editor. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { revealedLine } from "./revealed-text.ts";

export type EditedText = { readonly text: string } | { readonly problem: string };

/** The file is for this user alone, and gone afterwards. `name` tells the editor what kind of text it is. */
export async function editedText(
  text: string,
  name: string,
  environment: NodeJS.ProcessEnv,
): Promise<EditedText> {
  const editor = environment.VISUAL || environment.EDITOR;
  if (!editor) return { problem: "There is no editor: set EDITOR, for example to nano." };
  const directory = await mkdtemp(join(tmpdir(), "deepwright-edit-"));
  const file = join(directory, name);
  try {
    await writeFile(file, text, { mode: 0o600 });
    const problem = await opened(editor, file, environment);
    return problem === undefined ? { text: await readFile(file, "utf8") } : { problem };
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
  const { startProgram } = await import("deepwright/internal");
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
    child.on("close", (code) => resolve(code === 0 ? undefined : "The editor failed: nothing was changed."));
  });
}
