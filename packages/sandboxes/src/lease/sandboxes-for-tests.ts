/** A directory for the places of one test, removed with the processes in it. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterThisTest } from "../../../../scripts/test-cleanups.mjs";
import {
  type ProcessProvider,
  type ProcessProviderOptions,
  processProvider,
} from "./process-provider-for-tests.ts";

export function sandboxesRoot(): string {
  const root = mkdtempSync(join(tmpdir(), "places-"));
  afterThisTest(async () => {
    const provider = processProvider({ root });
    for (const id of provider.places()) await provider.destroy?.(id);
    rmSync(root, { recursive: true, force: true });
  });
  return root;
}

export function testProvider(options: Partial<ProcessProviderOptions> = {}): ProcessProvider {
  return processProvider({ root: sandboxesRoot(), ...options });
}

/** As a run of this thread hands it to a backend. */
export function runOf(thread: string, state: unknown = {}, store?: unknown): never {
  return { state, store, config: { configurable: { thread_id: thread } } } as never;
}

export function opensOf({ log }: ProcessProvider): number {
  return log.filter((line) => line.startsWith("open ")).length;
}
