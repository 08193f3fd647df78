/** Files in a repository of LangSmith's context hub. */
import { ConfigurationError } from "../../errors.ts";
import type { DeleteResult, LsResult, OperationOptions } from "../backend.ts";
import { missing } from "../file-map/file-map.ts";
import { at, PrimitiveBackend } from "../primitives/primitive-backend.ts";
import { FetchedFiles } from "../primitives/primitive-files.ts";
import { type HubClient, HubFiles } from "./hub-files.ts";

export interface ContextHubBackendOptions {
  /** Default: a `Client` of `langsmith`, which takes its key and address from the environment. */
  readonly client?: HubClient | null;
}

/**
 * The agent `owner/name` of the hub (`-/name`: of the key's own workspace). The repository is created by the first change.
 *
 * All files are pulled at the first use and kept; changes are commits. Commits of others are seen after a conflict, or by
 * a new object. Failures of the service are results, as with files.
 */
export class ContextHubBackend extends PrimitiveBackend {
  readonly #files: HubFiles;

  constructor(identifier: string, options: ContextHubBackendOptions | null = {}) {
    if (typeof identifier !== "string" || identifier === "")
      throw new ConfigurationError("INVALID_OPTION", "ContextHubBackend needs the name of an agent.", {
        hint: 'Write new ContextHubBackend("owner/name"), or "-/name" for your own workspace.',
      });
    const files = new HubFiles(identifier, options?.client ?? undefined);
    super(files);
    this.#files = files;
  }

  override ls(path = "/", options?: OperationOptions): Promise<LsResult> {
    return super.ls(path, options);
  }

  /** A directory goes in one commit. */
  delete(path: string, options: OperationOptions = {}): Promise<DeleteResult> {
    return at(path, options, async (target): Promise<DeleteResult> => {
      if (target === "/") return { error: "Cannot delete the root directory", code: "INVALID_ARGUMENT" };
      const isDone = await this.#files.change((files) => {
        const doomed = [...files.keys()].filter((file) => file === target || file.startsWith(`${target}/`));
        return doomed.length === 0 ? undefined : new Map(doomed.map((file) => [file, null]));
      });
      return isDone ? { path: target } : missing(new FetchedFiles(), target);
    });
  }

  /** Linked agents and skills: their paths in the repository, and the repositories they lead to. */
  async getLinkedEntries(): Promise<Record<string, string>> {
    return { ...(await this.#files.tree()).linked };
  }

  /** Whether the repository exists and has a commit. */
  async hasPriorCommits(): Promise<boolean> {
    return (await this.#files.tree()).commit !== undefined;
  }
}
