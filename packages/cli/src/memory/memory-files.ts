/** Where a directory's memory is, and where diffs of it are kept. */
import { createHash } from "node:crypto";
import { mkdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { BackendProtocol } from "deepwright";
import { homeOf } from "../state/home.ts";

export const MEMORY_FILE = "/AGENTS.md";
export const HISTORY = "/memory_history";

export interface MemoryFiles {
  /** `/` is the directory, `/memory_history` is kept beside the threads: it is no part of the project. */
  readonly backend: BackendProtocol;
  /** The real path of a file in `/memory_history`. */
  readonly historyPath: (path: string) => string;
}

/** `directory` is a real path. Without `keep` all changes stay in memory. */
export async function openMemoryFiles(
  directory: string,
  keep: boolean,
  environment: NodeJS.ProcessEnv,
): Promise<MemoryFiles> {
  const [{ CompositeBackend, FilesystemBackend, MapBackend, previewBackend }, { ProjectFiles }] =
    await Promise.all([import("deepwright"), import("../run/project-files.ts")]);
  const history = join(homeOf(environment), "memory_history", nameOf(directory));
  if (keep) await mkdir(history, { recursive: true, mode: 0o700 });
  const isThere = await stat(history).then(
    () => true,
    () => false,
  );
  const project = new ProjectFiles({ rootDir: directory, virtualMode: true, approve: () => false });
  const kept = isThere ? new FilesystemBackend({ rootDir: history, virtualMode: true }) : new MapBackend();
  const shown = (backend: BackendProtocol): BackendProtocol => (keep ? backend : previewBackend(backend));
  return {
    backend: new CompositeBackend(shown(project), { [`${HISTORY}/`]: shown(kept) }),
    historyPath: (path) => join(history, path.slice(HISTORY.length)),
  };
}

/** Readable, and another one for every directory. */
function nameOf(directory: string): string {
  const hash = createHash("sha256").update(directory).digest("hex").slice(0, 12);
  return `${basename(directory)
    .replaceAll(/[^\w.-]/g, "_")
    .slice(0, 60)}-${hash}`;
}
