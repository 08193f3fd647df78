/**
 * The channel `files` of an agent. It tells savers which files are new, also after an `Overwrite` or a load from
 * storage.
 */
import { BinaryOperatorAggregate, Overwrite } from "@langchain/langgraph";
import {
  type FilesState,
  type FilesStateUpdate,
  filesReducer,
  mergeFiles,
} from "../../backends/state/files-value.ts";
import { cameIn, forSavers, fromSavers, handedDown, isMadeByLoop, madeByLoop } from "../../channel-values.ts";
import { overwritten } from "../messages/overwrite.ts";

type Reducer = (left: unknown, right: unknown) => unknown;

export class FilesChannel extends BinaryOperatorAggregate<unknown, unknown> {
  constructor() {
    super(filesReducer as Reducer, () => ({}));
  }

  /** Checks every file of a record from storage. Files that came through the channel were checked before. */
  override fromCheckpoint(checkpoint?: unknown): this {
    const next = new FilesChannel();
    const value = fromSavers(checkpoint);
    if (value !== undefined) next.value = value;
    if (typeof value === "object" && value !== null && !isMadeByLoop(value)) {
      for (const file of Object.values(value as FilesState)) cameIn(file);
      madeByLoop(value);
    }
    return next as this;
  }

  override checkpoint(): unknown {
    return forSavers(super.checkpoint());
  }

  /** A replacement of all files is merged into nothing first: a new record, of checked files. */
  override update(values: unknown[]): boolean {
    const handed = handedDown(values[0]);
    if (handed !== undefined) {
      this.value = handed;
      return this.update(values.slice(1)) || true;
    }
    if (values.length === 0) return false;
    if (values.some((value) => overwritten(value) !== undefined))
      return super.update(values.map((value) => wholeRecord(value) ?? value));
    this.value = mergeFiles(this.value as FilesState | undefined, values as FilesStateUpdate[]);
    return true;
  }
}

function wholeRecord(value: unknown): Overwrite<FilesState> | undefined {
  const whole = overwritten(value);
  return whole && new Overwrite(filesReducer(undefined, whole.value as FilesStateUpdate | undefined));
}
