/** Files in memory only: the reference for the behaviour of a backend, and a backend for tests. */

import { ConfigurationError } from "../../errors.ts";
import { GIVES_OUR_RESULTS } from "../../internal-symbols.ts";
import { canonicalPath } from "../../paths.ts";
import { mimeTypeOfText } from "../../text/mime.ts";
import type { AnyFileData, FileData, FilesUpdate, OperationOptions } from "../backend.ts";
import type { FileMap } from "./file-map.ts";
import { FileMapBackend, type OpenFiles } from "./file-map-backend.ts";

export class MapBackend extends FileMapBackend {
  static readonly [GIVES_OUR_RESULTS] = true;
  readonly #files = new Map<string, AnyFileData>();
  #paths: readonly string[] | undefined;

  /** A bare text becomes a file made now. Throws for an impossible path. */
  constructor(initialFiles: Readonly<Record<string, string | AnyFileData>> = {}) {
    super();
    const now = new Date().toISOString();
    for (const [path, given] of Object.entries(initialFiles)) {
      const key = keyOf(path);
      this.#files.set(key, typeof given === "string" ? textFile(key, given, now) : checkedData(key, given));
    }
  }

  protected override open(options?: OperationOptions): OpenFiles {
    options?.signal?.throwIfAborted();
    return { files: this.#view, commit: (update) => this.#commit(update) };
  }

  readonly #view: FileMap = {
    get: (path) => this.#files.get(path),
    paths: () => {
      this.#paths ??= [...this.#files.keys()].sort();
      return this.#paths;
    },
    holdsUnder: (prefix) => {
      for (const path of this.#files.keys()) if (path.startsWith(prefix)) return true;
      return false;
    },
  };

  #commit(update: FilesUpdate): Record<string, never> {
    for (const [path, data] of Object.entries(update)) {
      if (data === null) this.#files.delete(path);
      else this.#files.set(path, data);
    }
    this.#paths = undefined;
    return {};
  }
}

function keyOf(path: string): string {
  const canonical = canonicalPath(path);
  if (canonical.error === undefined && canonical.path !== "/") return canonical.path;
  throw new ConfigurationError("INVALID_OPTION", canonical.error ?? "The root is a directory, not a file.");
}

function textFile(path: string, content: string, now: string): FileData {
  return { content, mimeType: mimeTypeOfText(path), created_at: now, modified_at: now };
}

function checkedData(path: string, given: AnyFileData): AnyFileData {
  const content: unknown = given?.content;
  if (typeof content === "string" || content instanceof Uint8Array || Array.isArray(content)) return given;
  throw new ConfigurationError(
    "INVALID_OPTION",
    `The initial file '${path}' must be text or {content: "…"}, not ${given === null ? "null" : typeof given}.`,
  );
}
