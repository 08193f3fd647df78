/**
 * A decision about paths that travels with a call to the backend that opens them.
 *
 * A guard judges a path, and another program may turn a link before the path is opened. A backend on which that can happen
 * asks again about the path it has open, after links, before it reads or changes anything there.
 */
import type { FileError, MaybePromise, OperationOptions } from "./backend.ts";

export interface Decision {
  /** Why `path` must not be used. `path` is after links; `asked` is the canonical path the backend was called with. */
  at(path: string, asked: string): MaybePromise<FileError | undefined>;
  /** The same about what a call finds on its way: everything in a tree it deletes, and where links of a listing lead. */
  found?(path: string): FileError | undefined;
}

/** A symbol: the arguments of a model are JSON and cannot hold it. */
const DECISION: unique symbol = Symbol.for("deepwright.decision") as never;

interface WithDecision extends OperationOptions {
  readonly [DECISION]?: Decision | undefined;
}

export function decisionOf(options: OperationOptions | undefined): Decision | undefined {
  return (options as WithDecision | undefined)?.[DECISION];
}

/** The same options with one more decision: all of them must allow. */
export function withDecision<Options extends OperationOptions>(
  options: Options | undefined,
  decision: Decision,
): Options {
  const outer = decisionOf(options);
  const both: Decision = outer === undefined ? decision : bothOf(outer, decision);
  return { ...(options as Options), [DECISION]: both };
}

function bothOf(outer: Decision, inner: Decision): Decision {
  return {
    at: async (path, asked) => (await outer.at(path, asked)) ?? inner.at(path, asked),
    found: (path) => outer.found?.(path) ?? inner.found?.(path),
  };
}

export function withoutDecision<Options extends OperationOptions>(options: Options): Options {
  return decisionOf(options) === undefined ? options : { ...options, [DECISION]: undefined };
}

/** For a backend behind one that shows its paths under other names. */
export function decisionInside<Options extends OperationOptions>(
  options: Options | undefined,
  outerPath: (path: string) => string,
): Options | undefined {
  const outer = decisionOf(options);
  if (options === undefined || outer === undefined) return options;
  const inside: Decision = {
    at: (path, asked) => outer.at(outerPath(path), outerPath(asked)),
    found: (path) => outer.found?.(outerPath(path)),
  };
  return { ...options, [DECISION]: inside };
}
