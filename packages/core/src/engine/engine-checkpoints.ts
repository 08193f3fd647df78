/**
 * Checkpoints on their way to a saver: in order, whatever the clock says.
 *
 * The engine hands a checkpoint over when the one before it is stored, so that each costs a way to the disk of its
 * own. A saver that says `keepsOrder` is given each at once, and stores together what comes while it is busy.
 *
 * What cannot be stored ends the run at its next step. The engine hears of it when it waits for what is stored, which may
 * be long after it failed: a call that another one runs beside is stored at once. Until then nobody listens to the
 * promise, for which Node ends the process.
 *
 * Ids are made from the time, and the newest checkpoint of a thread is the one with the largest. Behind one that was
 * made by a clock ahead of ours, another machine's or our own before it was set back, new ones would not be seen.
 */
import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { CHECKPOINTER } from "./engine.ts";

type PutArguments = Parameters<BaseCheckpointSaver["put"]>;

interface Put {
  readonly config: PutArguments[0];
  readonly checkpoint: PutArguments[1];
  readonly metadata: PutArguments[2];
  readonly newVersions: PutArguments[3];
}

/** A run of the engine, as far as it stores checkpoints. */
interface EngineRun {
  readonly checkpointer?: BaseCheckpointSaver & { readonly keepsOrder?: boolean };
  readonly config: RunnableConfig;
  /** The newest one; its id is the parent of the next. */
  readonly checkpoint: { id: string };
  readonly checkpointerPromises: Set<Promise<unknown>>;
  _checkpointerPutAfterPrevious(put: Put): void;
  /** The end of the run waits for tracked promises, and throws the first failure. */
  _trackCheckpointerPromise(stored: Promise<unknown>): void;
}

interface RunningGraph {
  readonly checkpointer?: unknown;
  _runLoop(params: { readonly loop: EngineRun }): Promise<void>;
  bulkUpdateState(config: RunnableConfig, steps: unknown): Promise<RunnableConfig>;
}

/** Holds for all runs and updates of the graph, or of the graphs whose prototype it is. */
export function putInOrder(graph: object): void {
  const running = graph as RunningGraph;
  const { _runLoop: run, bulkUpdateState: update } = running;
  running.bulkUpdateState = function (this: RunningGraph, config, steps) {
    return update.call(this, withGrowingIds(config, this.checkpointer), steps);
  };
  running._runLoop = async function (this: RunningGraph, params) {
    const { loop } = params;
    if (loop.checkpointer) {
      const failures = holdFailures(loop);
      if (loop.checkpointer.keepsOrder) putAtOnce(loop, loop.checkpointer);
      growIds(loop, await headBefore(loop.checkpointer, loop.config));
      endAtFailure(loop, failures);
    }
    return run.call(this, params);
  };
}

/** The config of an update of a state, whose checkpoint becomes the newest whatever the clock says. */
export function withGrowingIds(config: RunnableConfig, own: unknown): RunnableConfig {
  const { [CHECKPOINTER]: given = own, checkpoint_ns } = config?.configurable ?? {};
  // That of a subgraph is found by the engine, which takes a saver that is handed in for a sign that it was.
  const isOwn = checkpoint_ns === undefined || checkpoint_ns === "";
  if (!isOwn || typeof given !== "object" || given === null) return config;
  const saver = growingSaver(given as BaseCheckpointSaver, config);
  return { ...config, configurable: { ...config?.configurable, [CHECKPOINTER]: saver } };
}

/** Updates go by the id they are answered with. */
function growingSaver(saver: BaseCheckpointSaver, update: RunnableConfig = {}): BaseCheckpointSaver {
  const put: BaseCheckpointSaver["put"] = async (config, checkpoint, metadata, newVersions) => {
    const head = (await headBefore(saver, update)) ?? config.configurable?.checkpoint_id ?? "";
    const grown = { ...checkpoint, id: grownId(head, checkpoint.id) };
    return saver.put(config, grown, metadata, newVersions);
  };
  return new Proxy(saver, {
    get: (target, name) => {
      if (name === "put") return put;
      const value = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/**
 * For a run that continues from the newest checkpoint, the engine names the head with the first checkpoint it stores.
 */
async function headBefore(
  saver: BaseCheckpointSaver,
  { configurable }: RunnableConfig,
): Promise<string | undefined> {
  const { thread_id, checkpoint_ns = "", checkpoint_id } = configurable ?? {};
  if (checkpoint_id === undefined) return undefined;
  const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_ns } });
  return tuple?.config.configurable?.checkpoint_id;
}

function growIds(run: EngineRun, head: string | undefined): void {
  const put = run._checkpointerPutAfterPrevious.bind(run);
  let newest = head ?? "";
  run._checkpointerPutAfterPrevious = (given) => {
    const parent: string = given.config.configurable?.checkpoint_id ?? "";
    newest = grownId(parent > newest ? parent : newest, given.checkpoint.id);
    given.checkpoint.id = newest;
    run.checkpoint.id = newest;
    put(given);
  };
}

const TIME = /^([0-9a-f]{8})-([0-9a-f]{4})-6([0-9a-f]{3})-/;
const TIME_DIGITS = 15;

/** `id` where it sorts behind `head` or is the same, else one that does. One of another make is left as it is. */
function grownId(head: string, id: string): string {
  const [, high, middle, low] = id >= head ? [] : (TIME.exec(head) ?? []);
  if (high === undefined) return id;
  const time = (BigInt(`0x${high}${middle}${low}`) + 1n).toString(16).padStart(TIME_DIGITS, "0");
  return `${time.slice(0, 8)}-${time.slice(8, 12)}-6${time.slice(12)}${id.slice(18)}`;
}

interface Failures {
  first?: { readonly error: unknown };
}

/** Failed writes surface where the engine waits for storage, and nowhere else. */
function holdFailures(run: EngineRun): Failures {
  const failures: Failures = {};
  run._trackCheckpointerPromise = (stored) => {
    const tracked = stored.then(() => void run.checkpointerPromises.delete(tracked));
    run.checkpointerPromises.add(tracked);
    tracked.catch((error) => {
      failures.first ??= { error };
    });
  };
  return failures;
}

/** Ends the run: later work would not be stored either. */
function endAtFailure(run: EngineRun, failures: Failures): void {
  const put = run._checkpointerPutAfterPrevious.bind(run);
  run._checkpointerPutAfterPrevious = (given) => {
    if (failures.first) throw failures.first.error;
    put(given);
  };
}

/** After one that failed nothing is stored: a checkpoint must not be there without those before it. */
function putAtOnce(run: EngineRun, saver: BaseCheckpointSaver): void {
  let failed: Promise<unknown> | undefined;
  run._checkpointerPutAfterPrevious = ({ config, checkpoint, metadata, newVersions }) => {
    const stored = failed ?? saver.put(config, checkpoint, metadata, newVersions);
    stored.catch(() => {
      failed ??= stored;
    });
    run._trackCheckpointerPromise(stored);
  };
}
