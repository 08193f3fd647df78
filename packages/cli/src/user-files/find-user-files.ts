/**
 * Agents and commands that the user or a project keeps as Markdown files. A project's count only as they were when the person
 * trusted the directory. Later places count more: the user's own, `.claude`, `.deepwright`.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BackendProtocol } from "deepwright";
import { type InstructionFile, USER_FILES, userFilesOf } from "../trust/instruction-files.ts";
import type { TrustedDirectory } from "../trust/trust-record.ts";

export type UserFileKind = "agents" | "commands";

export interface UserFile {
  /** The file's name without `.md`. */
  readonly name: string;
  /** For people. */
  readonly path: string;
  readonly text: string;
  readonly origin: "user" | "project";
  /** False: nobody trusted it as it is now. */
  readonly isTrusted: boolean;
}

export interface UserFilesRequest {
  readonly home: string;
  /** The project's files; absent: none are looked for. */
  readonly project?: BackendProtocol | undefined;
  /** Asked only where the project has such files. */
  readonly kept: () => Promise<TrustedDirectory | undefined>;
  /** The person trusts the directory in this run. */
  readonly isTrusted: boolean;
}

/** By name, later places in the place of earlier ones. An untrusted file replaces no other. */
export async function findUserFiles(
  kind: UserFileKind,
  request: UserFilesRequest,
): Promise<readonly UserFile[]> {
  const { home, project, kept, isTrusted } = request;
  const found = new Map<string, UserFile>();
  const add = (file: UserFile): void => {
    if (file.isTrusted || !found.has(file.name)) found.set(file.name, file);
  };
  for (const file of await usersOwn(join(home, kind))) add(file);
  const files = project === undefined ? [] : await userFilesOf(project);
  const known = new Map(files.length > 0 && !isTrusted ? (await kept())?.files : []);
  for (const directory of USER_FILES[kind])
    for (const { path, hash, text } of files.filter((file) => isIn(file, directory)))
      if (text !== undefined)
        add({
          name: nameOf(path),
          path,
          text,
          origin: "project",
          isTrusted: isTrusted || known.get(path) === hash,
        });
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function isIn({ path }: InstructionFile, directory: string): boolean {
  return path.startsWith(`${directory}/`);
}

function nameOf(path: string): string {
  return path.replace(/^.*\//s, "").replace(/\.md$/i, "");
}

async function usersOwn(directory: string): Promise<readonly UserFile[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  const own = names.filter((name) => /\.md$/i.test(name)).sort();
  return Promise.all(
    own.map(async (name) => {
      const path = join(directory, name);
      return {
        name: nameOf(name),
        path,
        text: await readFile(path, "utf8"),
        origin: "user" as const,
        isTrusted: true,
      };
    }),
  );
}
