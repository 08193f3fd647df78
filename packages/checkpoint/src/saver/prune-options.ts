/** Checks the options of `prune`. */
import { checkKind, checkNames } from "deepwright/check-options";
import { DeepwrightError } from "deepwright/errors";
import type { PruneQuery } from "../storage/storage.ts";
import type { PruneOptions } from "../threads/threads.ts";
import { checkedId } from "./ids.ts";

const KNOWN = new Set(["threadId", "keepLatest", "olderThan", "maxBytes", "onlySnapshots", "erase"]);

export function pruneQuery(options: PruneOptions, now: number): PruneQuery {
  checkNames("prune", options, KNOWN);
  const { threadId, keepLatest, olderThan, maxBytes, onlySnapshots, erase } = options ?? {};
  checkKind("boolean", { onlySnapshots });
  if (erase !== undefined && typeof erase !== "boolean")
    throw new DeepwrightError("INVALID_OPTION", "erase must be true or false.");
  if (keepLatest === undefined && olderThan === undefined && maxBytes === undefined && !erase)
    throw new DeepwrightError("INVALID_OPTION", "prune needs to know what to remove.", {
      hint: "Give keepLatest, olderThan, maxBytes or erase.",
    });
  if (keepLatest !== undefined && !(Number.isInteger(keepLatest) && keepLatest >= 1))
    throw new DeepwrightError("INVALID_OPTION", "keepLatest must be a whole number of at least 1.");
  if (maxBytes !== undefined && !(typeof maxBytes === "number" && maxBytes >= 0))
    throw new DeepwrightError("INVALID_OPTION", "maxBytes must be a number of at least 0.");
  if (onlySnapshots && keepLatest !== undefined)
    throw new DeepwrightError(
      "INVALID_OPTION",
      "keepLatest counts steps, so it does not go with onlySnapshots.",
    );
  return {
    ...(onlySnapshots ? { onlyImages: true } : {}),
    ...(threadId === undefined ? {} : { threadId: checkedId("thread_id", threadId) }),
    ...(keepLatest === undefined ? {} : { keepLatest }),
    ...(olderThan === undefined ? {} : { olderThan: moment(olderThan, now) }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    now,
  };
}

function moment(olderThan: Date | number, now: number): number {
  const time = olderThan instanceof Date ? olderThan.getTime() : now - olderThan * 1_000;
  if (!Number.isFinite(time) || (typeof olderThan === "number" && olderThan < 0))
    throw new DeepwrightError("INVALID_OPTION", "olderThan must be a Date or an age in seconds.");
  return time;
}
