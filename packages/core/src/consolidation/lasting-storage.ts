/** Whether what consolidation writes outlasts the run: what it changed must not go with a thread. */
import type { BackendProtocol } from "../backends/backend.ts";
import { type BackendSource, mayUseState } from "../backends/resolve.ts";
import { ConfigurationError, DeepwrightError } from "../errors.ts";
import type { MemoryTexts } from "./memory-changes.ts";
import { type RecordLocation, readText, recordPath } from "./memory-record.ts";

export interface StorageOptions {
  readonly backend: BackendSource;
  readonly memory: readonly string[];
  readonly historyDirectory: string;
}

/**
 * Throws for a place in the state of a thread, whichever way it leads there. Where a route leads is seen in
 * what is asked of the state when a file is read; no file is changed.
 */
export async function checkStorage(
  { backend, memory, historyDirectory }: StorageOptions,
  open: (state: Record<string, unknown>) => BackendProtocol | Promise<BackendProtocol>,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!mayUseState(backend)) return;
  let isStateRead = false;
  const state = {
    get files(): Record<string, never> {
      isStateRead = true;
      return {};
    },
  };
  const files = await open(state);
  const history = ["historyDirectory", recordPath({ directory: historyDirectory })] as const;
  for (const [option, path] of [...memory.map((path) => ["memory", path] as const), history]) {
    isStateRead = false;
    await readText(files, path, signal ? { signal } : {});
    if (isStateRead) throw ofThread(option, path);
  }
}

function ofThread(option: string, path: string): ConfigurationError {
  return new ConfigurationError(
    "INVALID_OPTION",
    `'${path}' (option '${option}') lies in the state of a thread: what is written there ends with the run.`,
    { hint: "Mount a backend there that outlives it, e.g. a FilesystemBackend or a StoreBackend." },
  );
}

/** Throws where another look, by a backend made anew, does not find the record that was just written. */
export async function checkRecordLasts(
  location: RecordLocation,
  anew: BackendProtocol,
  signal: AbortSignal | undefined,
): Promise<void> {
  const path = recordPath(location);
  const options = signal ? { signal } : {};
  const { data } = await readText(location.backend, path, options);
  if (data !== undefined && (await readText(anew, path, options)).data === data) return;
  throw notThere(path);
}

/** The memory files that were changed in a run, as far as the backend of the agent says so. */
export class WrittenPaths {
  readonly #counts = new Map<string, number>();

  add(path: string): void {
    this.#counts.set(path, (this.#counts.get(path) ?? 0) + 1);
  }

  clear(): void {
    this.#counts.clear();
  }

  /** Undefined when all of it is there. Several changes may undo each other; one, or a missing file, cannot be. */
  loss(before: MemoryTexts, after: MemoryTexts): DeepwrightError | undefined {
    const lost = [...after].find(([path, now]) => {
      const count = this.#counts.get(path) ?? 0;
      return count > 0 && (now === undefined || (count === 1 && now === before.get(path)));
    });
    return lost && notThere(lost[0]);
  }
}

function notThere(path: string): DeepwrightError {
  return new DeepwrightError("STORAGE_UNAVAILABLE", `What was written to '${path}' is not there.`, {
    hint: "The backend must have the same files in every run: a factory has to return the same storage.",
  });
}
