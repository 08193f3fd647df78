/**
 * Checkpoints on their way to a saver that keeps their order.
 *
 * The engine hands a checkpoint over when the one before it is stored, so that each costs a way to the disk of its
 * own. A saver that says `keepsOrder` is given each at once, and stores together what comes while it is busy.
 */
import type { BaseCheckpointSaver } from "@langchain/langgraph";

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
  _checkpointerPutAfterPrevious(put: Put): void;
  /** Whoever ends the run waits for what is tracked, and throws the first failure. */
  _trackCheckpointerPromise(stored: Promise<unknown>): void;
}

interface RunningGraph {
  _runLoop(params: { readonly loop: EngineRun }): Promise<void>;
}

/** Holds for all runs of the graph, or of the graphs whose prototype it is. */
export function putInOrder(graph: object): void {
  const running = graph as RunningGraph;
  const run = running._runLoop;
  running._runLoop = function (this: RunningGraph, params) {
    if (params.loop.checkpointer?.keepsOrder) putAtOnce(params.loop, params.loop.checkpointer);
    return run.call(this, params);
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
