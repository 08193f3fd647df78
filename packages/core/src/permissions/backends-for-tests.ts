/** The same files in every kind of place, behind rules. */

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readRawFile } from "../backends/adapt/raw-file.ts";
import type { BackendProtocol } from "../backends/backend.ts";
import { CompositeBackend } from "../backends/composite/composite.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { fillTree, type Tree } from "../backends/disk/tree-for-tests.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { StateBackend } from "../backends/state/state.ts";
import { guardBackend } from "./guard.ts";
import type { FilesystemOperation, FilesystemPermission, PermissionMode } from "./rules.ts";

export const FILES = {
  "/workspace/a.txt": "needle in the workspace",
  "/workspace/.env": "needle in the environment",
  "/workspace/sub/b.txt": "needle below",
  "/secrets/key.txt": "needle in the key",
  "/secrets/pub/readme.md": "needle in public",
  "/secretsX/a": "needle beside",
  "/memories/AGENTS.md": "needle in memory",
  "/policies/p.md": "needle in a policy",
  "/notes.md": "needle in the notes",
} as const;

export const rule = (
  mode: PermissionMode,
  paths: string | string[],
  operations: FilesystemOperation[] = ["read", "write"],
): FilesystemPermission => ({ operations, paths: [paths].flat(), mode });

export function onDisk(tree: Tree): FilesystemBackend {
  return new FilesystemBackend({ rootDir: directoryWith(tree), virtualMode: true });
}

/** Paths are those of the host: the areas of the harness lie in a directory of their own. */
export function onHost(tree: Tree): FilesystemBackend {
  return new FilesystemBackend({ rootDir: directoryWith(tree) });
}

export function directoryWith(tree: Tree): string {
  const rootDir = mkdtempSync(join(realpathSync(tmpdir()), "deepwright-permissions-"));
  onTestFinished(() => rmSync(rootDir, { recursive: true, force: true }));
  fillTree(rootDir, tree);
  return rootDir;
}

function under(prefix: string, isInside: boolean): Record<string, string> {
  const entries = Object.entries(FILES).filter(([path]) => path.startsWith(`${prefix}/`) === isInside);
  return Object.fromEntries(
    entries.map(([path, text]) => [isInside ? path.slice(prefix.length) : path, text]),
  );
}

/** Makes each place anew, without rules. */
export const BACKENDS: Readonly<Record<string, () => BackendProtocol>> = {
  state: () => {
    const now = new Date().toISOString();
    const files = Object.entries(FILES).map(([path, content]) => [
      path,
      { content, created_at: now, modified_at: now },
    ]);
    return new StateBackend({ state: { files: Object.fromEntries(files) } });
  },
  map: () => new MapBackend(FILES),
  disk: () => onDisk(FILES),
  composite: () =>
    new CompositeBackend(new MapBackend(under("/secrets", false)), {
      "/secrets/": onDisk(under("/secrets", true)),
    }),
};

export function guarded(backend: BackendProtocol, rules: readonly FilesystemPermission[]): BackendProtocol {
  return guardBackend(backend, rules) as BackendProtocol;
}

export type Verdict = "allow" | "deny" | "ask";

type Call = (backend: BackendProtocol, path: string) => unknown;

const BYTES = new Uint8Array([110]);

/** Every road to one file. Those that change it come last, and the one that removes it at the very end. */
export const CALLS: Readonly<Record<FilesystemOperation, Readonly<Record<string, Call>>>> = {
  read: {
    read: (backend, path) => backend.read(path),
    readRaw: (backend, path) => readRawFile(backend, path),
    download: async (backend, path) => (await backend.downloadFiles?.([path]))?.[0],
    grep: (backend, path) => backend.grep("needle", path),
    ls: (backend, path) => backend.ls(path),
    glob: (backend, path) => backend.glob("**", path),
  },
  write: {
    edit: (backend, path) => backend.edit(path, "needle", "thread"),
    append: (backend, path) => backend.append?.(path, " more"),
    write: (backend, path) => backend.write(path, "new"),
    overwrite: (backend, path) => backend.write(path, "new", { overwrite: true }),
    upload: async (backend, path) => (await backend.uploadFiles?.([[path, BYTES]]))?.[0],
    delete: (backend, path) => backend.delete?.(path),
  },
};

export function verdictOf(result: unknown): Verdict {
  const { code, error } = result as { code?: string; error?: string | null };
  if (code === "PERMISSION_DENIED" || error === "permission_denied") return "deny";
  return code === "APPROVAL_REQUIRED" ? "ask" : "allow";
}
