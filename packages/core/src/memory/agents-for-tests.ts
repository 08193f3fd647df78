/** Tests only: agents with memory, and what their model was sent. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { expect } from "vitest";
import { afterThisTest } from "../../../../scripts/test-cleanups.mjs";
import { createDeepAgent } from "../agent.ts";
import type { FileDownloadResponse, LsResult, OperationOptions, ReadResult } from "../backends/backend.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { createMemoryMiddleware, type MemoryMiddlewareOptions } from "../middleware/memory.ts";
import { type RecordedCall, scriptedModel } from "../testing/index.ts";
import { firstDifference } from "../testing/request-prefix.ts";

type Script = Parameters<typeof scriptedModel>[0];
type AgentOptions = Omit<Parameters<typeof createDeepAgent>[0] & object, "model" | "memory">;

export function memoryAgent(
  memory: MemoryMiddlewareOptions,
  script: Script,
  { middleware = [], ...options }: AgentOptions = {},
) {
  const model = scriptedModel(script);
  const agent = createDeepAgent({
    model,
    ...(memory.backend && { backend: memory.backend as never }),
    ...options,
    // Its notices are reminders, too.
    middleware: [createMemoryMiddleware(memory), { LoopDetectionMiddleware: false }, ...(middleware as [])],
  } as never);
  return { agent, model, calls: model.calls };
}

export const user = (content: string) => ({ messages: [{ role: "user", content }] });

export function promptOf(call: RecordedCall | undefined): string {
  return call?.messages[0]?.text ?? "";
}

/** Reminders after the last message of a request. */
export function remindersIn(call: RecordedCall | undefined): string[] {
  return (call?.messages ?? [])
    .filter((message: BaseMessage) => message.id?.startsWith("reminder-"))
    .map((message) => message.text);
}

/** One thread of a checkpointer. */
export const thread = { configurable: { thread_id: "t" } };

/** Each request is wholly the beginning of the next. */
export function expectPrefixes(calls: readonly RecordedCall[]): void {
  for (let i = 1; i < calls.length; i += 1)
    expect(firstDifference(calls[i - 1] as RecordedCall, calls[i] as RecordedCall)).toBeUndefined();
}

export async function workspace(files: Record<string, string | Uint8Array> = {}): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "memory-"));
  afterThisTest(() => rm(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

/** Counts what is asked of the disk. */
export class CountingBackend extends FilesystemBackend {
  downloads = 0;
  reads = 0;
  listings = 0;

  override downloadFiles(
    paths: readonly string[],
    options?: OperationOptions,
  ): Promise<FileDownloadResponse[]> {
    this.downloads += 1;
    return super.downloadFiles(paths, options);
  }

  override read(
    path: string,
    offset?: number,
    limit?: number,
    options?: OperationOptions,
  ): Promise<ReadResult> {
    this.reads += 1;
    return super.read(path, offset, limit, options) as Promise<ReadResult>;
  }

  override ls(path: string, options?: OperationOptions): Promise<LsResult> {
    this.listings += 1;
    return super.ls(path, options) as Promise<LsResult>;
  }
}
