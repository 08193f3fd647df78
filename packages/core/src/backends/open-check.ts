/**
 * A check of paths that travels with a call to the backend that opens them.
 *
 * A guard judges a path, and another program may turn a link before the path is opened. A backend on which that can happen
 * asks again about the path it has open, after links, before it reads or changes anything there.
 */
import { OPEN_CHECK } from "../internal-symbols.ts";
import type { FileError, MaybePromise, OperationOptions } from "./backend.ts";

export interface OpenCheck {
  /** Why `path` must not be used. `path` is after links; `asked` is the canonical path the backend was called with. */
  at(path: string, asked: string): MaybePromise<FileError | undefined>;
  /**
   * The same check for other paths that a call meets: everything in a deleted tree, and targets of links in a listing.
   */
  found?(path: string): FileError | undefined;
}

interface WithOpenCheck extends OperationOptions {
  readonly [OPEN_CHECK]?: OpenCheck | undefined;
}

export function openCheckOf(options: OperationOptions | undefined): OpenCheck | undefined {
  return (options as WithOpenCheck | undefined)?.[OPEN_CHECK];
}

/** The same options with one more check: all of them must allow. */
export function withOpenCheck<Options extends OperationOptions>(
  options: Options | undefined,
  check: OpenCheck,
): Options {
  const outer = openCheckOf(options);
  const both: OpenCheck = outer === undefined ? check : bothOf(outer, check);
  return { ...(options as Options), [OPEN_CHECK]: both };
}

function bothOf(outer: OpenCheck, inner: OpenCheck): OpenCheck {
  return {
    at: async (path, asked) => (await outer.at(path, asked)) ?? inner.at(path, asked),
    found: (path) => outer.found?.(path) ?? inner.found?.(path),
  };
}

export function withoutOpenCheck<Options extends OperationOptions>(options: Options): Options {
  return openCheckOf(options) === undefined ? options : { ...options, [OPEN_CHECK]: undefined };
}

/** The check for an inner backend that knows its paths under other names. */
export function openCheckInside<Options extends OperationOptions>(
  options: Options | undefined,
  outerPath: (path: string) => string,
): Options | undefined {
  const outer = openCheckOf(options);
  if (options === undefined || outer === undefined) return options;
  const inside: OpenCheck = {
    at: (path, asked) => outer.at(outerPath(path), outerPath(asked)),
    found: (path) => outer.found?.(outerPath(path)),
  };
  return { ...options, [OPEN_CHECK]: inside };
}
