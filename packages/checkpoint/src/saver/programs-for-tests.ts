/** Random programs on savers, run beside the naive one. */
import type { PendingWrite } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { expect } from "vitest";
import { describeTuple } from "./describe-for-tests.ts";
import { NaiveSaver } from "./model-for-tests.ts";
import type { SharedSaver } from "./shared-saver.ts";
import {
  anyEdit,
  checkpointOf,
  type Edit,
  EMPTY,
  edited,
  metadataOf,
  type State,
  stateOf,
} from "./states-for-tests.ts";
import { anyMessage, anyValue } from "./values-for-tests.ts";

const THREADS = ["thread-a", "thread-b", "__proto__"];
const NAMESPACES = ["", "child:1", "child:2|grandchild", "memory"];
const SOURCES = ["loop", "update", "input"];

interface Where {
  /** Index of the saver on one storage. */
  readonly saver: number;
  readonly thread: number;
  readonly namespace: number;
  /** Index of the checkpoint, counted from the newest. */
  readonly place: number;
}

export type Step = Where &
  (
    | {
        readonly kind: "put";
        readonly fork: boolean;
        readonly edits: readonly Edit[];
        readonly how: "marked" | "raw" | "read";
      }
    | { readonly kind: "write"; readonly task: number; readonly writes: readonly PendingWrite[] }
    | { readonly kind: "delete" }
    | { readonly kind: "copy"; readonly to: number }
    | { readonly kind: "prune"; readonly keep: number; readonly all: boolean; readonly old: boolean }
    | { readonly kind: "read" }
    | { readonly kind: "list"; readonly narrow: number; readonly limit: number; readonly source: number }
  );

const where = {
  saver: fc.nat({ max: 1 }),
  thread: fc.nat({ max: THREADS.length - 1 }),
  namespace: fc.oneof(fc.constant(0), fc.nat({ max: NAMESPACES.length - 1 })),
  place: fc.oneof(fc.constant(0), fc.nat({ max: 12 })),
};

const channel = fc.constantFrom("messages", "files", "__error__", "__interrupt__", "__resume__", "\0\ud800");
const write: fc.Arbitrary<PendingWrite> = fc.tuple(
  channel,
  fc.oneof(anyValue, fc.array(anyMessage, { maxLength: 3 }), anyMessage),
);

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      ...where,
      kind: fc.constant("put" as const),
      fork: fc.boolean(),
      edits: fc.array(anyEdit, { maxLength: 3 }),
      how: fc.constantFrom("marked" as const, "marked" as const, "raw" as const, "read" as const),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      ...where,
      kind: fc.constant("write" as const),
      task: fc.nat({ max: 1 }),
      writes: fc.array(write, { maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ ...where, kind: fc.constant("delete" as const) }) },
  { weight: 1, arbitrary: fc.record({ ...where, kind: fc.constant("copy" as const), to: where.thread }) },
  {
    weight: 1,
    arbitrary: fc.record({
      ...where,
      kind: fc.constant("prune" as const),
      keep: fc.integer({ min: 1, max: 3 }),
      all: fc.boolean(),
      old: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ ...where, kind: fc.constant("read" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...where,
      kind: fc.constant("list" as const),
      narrow: fc.nat({ max: 7 }),
      limit: fc.nat({ max: 6 }),
      source: fc.nat({ max: 2 }),
    }),
  },
);

export const anyProgram: fc.Arbitrary<readonly Step[]> = fc.array(step, {
  minLength: 2,
  maxLength: 25,
  size: "max",
});

/** Runs the program on two savers of one storage; throws where they differ from the naive one. */
export async function runProgram(savers: readonly SharedSaver[], program: readonly Step[]): Promise<void> {
  await new Run(savers).all(program);
}

class Run {
  private readonly naive = new NaiveSaver();
  private readonly states = new Map<string, State>();
  private count = 0;

  constructor(private readonly savers: readonly SharedSaver[]) {}

  async all(program: readonly Step[]): Promise<void> {
    for (const step of program) await this.one(step);
    for (const saver of this.savers) await this.compare(saver);
    for (const thread of this.naive.names()) await (this.savers[0] as SharedSaver).deleteThread(thread);
  }

  private async one(step: Step): Promise<void> {
    const saver = this.savers[step.saver] as SharedSaver;
    const thread = THREADS[step.thread] as string;
    switch (step.kind) {
      case "put":
        return this.put(saver, thread, step);
      case "write":
        return this.write(saver, thread, step);
      case "delete":
        this.naive.deleteThread(thread);
        return saver.deleteThread(thread);
      case "copy": {
        const to = THREADS[step.to] as string;
        if (!this.naive.has(thread) || this.naive.has(to)) return;
        this.naive.copyThread(thread, to);
        return saver.copyThread(thread, to);
      }
      case "prune":
        return this.prune(saver, thread, step);
      case "read":
        return this.read(saver, thread, step);
      case "list":
        return this.list(saver, thread, step);
    }
  }

  private async put(saver: SharedSaver, thread: string, step: Step & { kind: "put" }): Promise<void> {
    const namespace = NAMESPACES[step.namespace] as string;
    const ids = this.naive.ids(thread, namespace);
    const parent = ids[step.fork ? step.place % (ids.length || 1) : 0];
    const place = { thread_id: thread, checkpoint_ns: namespace };
    const config = {
      configurable: parent === undefined ? place : { ...place, checkpoint_id: parent },
    };
    const base = parent === undefined ? EMPTY : await this.base(saver, config, step.how === "read");
    const state = edited(base, step.edits, step.how === "marked");
    this.count += 1;
    const root = namespace === "" ? undefined : this.naive.ids(thread, "")[0];
    const checkpoint = checkpointOf(state, this.count);
    const metadata = metadataOf(this.count, root === undefined ? {} : { parents: { "": root } });
    this.naive.put(thread, namespace, parent, checkpoint, metadata);
    this.states.set(checkpoint.id, state);
    await saver.put(config, checkpoint, metadata, checkpoint.channel_versions);
  }

  private async base(saver: SharedSaver, config: object, isRead: boolean): Promise<State> {
    const { configurable } = config as { configurable: { checkpoint_id: string } };
    if (!isRead) return this.states.get(configurable.checkpoint_id) as State;
    const tuple = await saver.getTuple(config);
    return stateOf(tuple!.checkpoint);
  }

  private async write(saver: SharedSaver, thread: string, step: Step & { kind: "write" }): Promise<void> {
    const namespace = NAMESPACES[step.namespace] as string;
    const ids = this.naive.ids(thread, namespace);
    const checkpoint_id = ids[step.place % (ids.length || 1)];
    if (checkpoint_id === undefined || step.writes.length === 0) return;
    const task = `task-${step.task}`;
    this.naive.putWrites(thread, namespace, checkpoint_id, task, step.writes);
    const configurable = { thread_id: thread, checkpoint_ns: namespace, checkpoint_id };
    await saver.putWrites({ configurable }, [...step.writes], task);
  }

  private async prune(saver: SharedSaver, thread: string, step: Step & { kind: "prune" }): Promise<void> {
    if (!step.all && !this.naive.has(thread)) return;
    const one = step.all ? {} : { threadId: thread };
    this.naive.prune(step.all ? undefined : thread, step.old ? 1 : step.keep);
    const future = new Date(Date.now() + 60_000);
    await saver.prune({ ...one, ...(step.old ? { olderThan: future } : { keepLatest: step.keep }) });
  }

  private async read(saver: SharedSaver, thread: string, { namespace, place }: Where): Promise<void> {
    const checkpoint_ns = NAMESPACES[namespace] as string;
    const id = place === 0 ? undefined : this.naive.ids(thread, checkpoint_ns)[place - 1];
    const configurable = { thread_id: thread, checkpoint_ns, ...(id && { checkpoint_id: id }) };
    const tuple = await saver.getTuple({ configurable });
    expect(describeTuple(tuple)).toEqual(this.naive.tuple(thread, checkpoint_ns, id));
  }

  private async list(saver: SharedSaver, thread: string, step: Step & { kind: "list" }): Promise<void> {
    const namespace = (step.narrow & 1) > 0 ? NAMESPACES[step.namespace] : undefined;
    const ids = this.naive.ids(thread, namespace ?? "");
    const before = (step.narrow & 2) > 0 ? ids[step.place % (ids.length || 1)] : undefined;
    const source = (step.narrow & 4) > 0 ? SOURCES[step.source] : undefined;
    const limit = step.limit === 0 ? undefined : step.limit;
    const query = { thread: step.place === 5 ? undefined : thread, namespace, before, source, limit };
    const found = [];
    for await (const tuple of saver.list(
      { configurable: { ...(query.thread && { thread_id: query.thread }), checkpoint_ns: namespace } },
      {
        ...(before && { before: { configurable: { checkpoint_id: before } } }),
        ...(source && { filter: { source } }),
        ...(limit && { limit }),
      },
    ))
      found.push(describeTuple(tuple));
    expect(found).toEqual(this.naive.list(query));
  }

  private async compare(saver: SharedSaver): Promise<void> {
    const found = [];
    for await (const tuple of saver.list({})) found.push(describeTuple(tuple));
    expect(found).toEqual(this.naive.list({}));
    for (const thread of THREADS)
      for (const namespace of NAMESPACES) {
        const configurable = { thread_id: thread, checkpoint_ns: namespace };
        expect(describeTuple(await saver.getTuple({ configurable }))).toEqual(
          this.naive.tuple(thread, namespace),
        );
      }
  }
}
