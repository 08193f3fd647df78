/** Threads made by putting checkpoints as the engine does. For tests only. */
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint";
import type { SharedSaver } from "../saver/shared-saver.ts";

export type Texts = Readonly<Record<string, string>>;

let names = 0;

/** Used by nobody else in this process. */
export function newName(): string {
  names += 1;
  return `thread-${process.pid}-${names}`;
}

export async function linesOf(lines: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

/** A file whose times tell nothing. */
export function file(content: string): object {
  return { content, mimeType: "text/plain", created_at: "", modified_at: "" };
}

/** Writes one checkpoint after the other on top of the head. */
export class ThreadMaker {
  private step = -1;
  private parent: string | undefined;
  private readonly saver: SharedSaver;
  readonly threadId: string;

  constructor(saver: SharedSaver, threadId: string) {
    this.saver = saver;
    this.threadId = threadId;
  }

  /** Returns the step's number. */
  async put(source: "loop" | "update" | "input", files: Texts, more: object = {}): Promise<number> {
    const { threadId } = this;
    const head = await this.saver.getTuple({ configurable: { thread_id: threadId } });
    this.step = head ? (head.metadata?.step ?? 0) + 1 : this.step;
    this.parent = head?.checkpoint.id;
    const version = 1 + Math.max(0, ...Object.values(head?.checkpoint.channel_versions ?? {}).map(Number));
    const stored = Object.fromEntries(Object.entries(files).map(([path, text]) => [path, file(text)]));
    const checkpoint = {
      ...emptyCheckpoint(),
      id: uuid6(this.step),
      channel_values: { files: stored, ...more },
      channel_versions: { files: version },
    };
    const config = { configurable: { thread_id: threadId, checkpoint_ns: "", checkpoint_id: this.parent } };
    await this.saver.put(config, checkpoint, { source, step: this.step, parents: {} }, { files: version });
    return this.step;
  }
}

export async function textsAt(
  saver: SharedSaver,
  threadId: string,
  checkpointId?: string,
): Promise<Record<string, string>> {
  const tuple = await saver.getTuple({ configurable: { thread_id: threadId, checkpoint_id: checkpointId } });
  const files = (tuple?.checkpoint.channel_values.files ?? {}) as Record<string, { content: string }>;
  return Object.fromEntries(Object.entries(files).map(([path, { content }]) => [path, content]));
}
