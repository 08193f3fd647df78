/** Rows of a checkpoint and the objects they refer to. */
import type { CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";
import type { Decoder } from "../../content/decode.ts";
import type { TupleRows } from "../../storage/storage.ts";

export function allRefs({ checkpoint, writes }: TupleRows): number[] {
  return [...checkpoint.refs, ...writes.flatMap(({ entries }) => entries.flatMap(({ refs }) => refs))];
}

export function isLoaded(rows: TupleRows, decoder: Decoder): boolean {
  return allRefs(rows).every((ref) => decoder.has(ref));
}

export function pendingWrites(writes: TupleRows["writes"], decoder: Decoder): CheckpointPendingWrite[] {
  return writes.flatMap(({ taskId, entries }) =>
    entries.map(
      ({ channel, body, refs }): CheckpointPendingWrite => [taskId, channel, decoder.text(body, refs)],
    ),
  );
}
