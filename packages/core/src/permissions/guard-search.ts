/** Listing and searching under rules: unreadable entries are left out, and entries that need approval are reported. */
import type {
  BackendProtocol,
  FileError,
  FileInfo,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  OperationOptions,
  SkippedFile,
} from "../backends/backend.ts";
import { asHarness } from "../backends/harness-call.ts";
import { withOpenCheck } from "../backends/open-check.ts";
import { Slices } from "../event-loop.ts";
import { type DirectoryJudge, type Judge, refusalOf, worst } from "./judge.ts";
import type { PermissionMode } from "./rules.ts";

export interface SearchTarget {
  readonly inner: BackendProtocol;
  readonly judge: Judge;
  /** Canonical. */
  readonly path: string;
  readonly options: OperationOptions | undefined;
}

/** A directory under rules. */
class Opened {
  /** Judge of the directory that was searched last. */
  view: DirectoryJudge;
  /** With a check by which `view` follows a link that leads elsewhere by now. */
  readonly options: OperationOptions;

  constructor(
    view: DirectoryJudge,
    readonly path: string,
    options: OperationOptions | undefined,
  ) {
    this.view = view;
    this.options = withOpenCheck(options, {
      at: (real, asked) => this.#refusalAt(real, asked),
      found: (real) => refusalOf(view.at(real, real).mode, "read", real),
    });
  }

  /** Entries below that are where their name says are left out of the result by that name. */
  #refusalAt(real: string, asked: string): FileError | undefined {
    if (asked !== this.path && real === this.view.realOf(asked)) return undefined;
    const view = this.view.at(asked, real);
    if (asked === this.path) this.view = view;
    return refusalBy(view, asked);
  }
}

/** A directory that may not be read is shown if it leads to one that may. */
function refusalBy(view: DirectoryJudge, path: string): FileError | undefined {
  const { mode } = view;
  return mode === "deny" && view.leadsOn(path) ? undefined : refusalOf(mode, "read", path);
}

async function open({ inner, judge, path, options }: SearchTarget): Promise<Opened | FileError> {
  const view = await judge.below("read", path, options);
  const opened = new Opened(view, path, options);
  const refusal = refusalBy(view, path);
  if (refusal !== undefined || view.mode === "allow") return refusal ?? opened;
  const listed = await inner.ls(path, asHarness(options));
  return listed.error === undefined ? opened : (refusalOf(view.mode, "read", path) ?? opened);
}

export async function lsAllowed(target: SearchTarget): Promise<LsResult> {
  const { inner, judge, path, options } = target;
  if (!judge.refuses("read")) return inner.ls(path, options);
  const opened = await open(target);
  if ("error" in opened) return opened;
  const result = await inner.ls(path, opened.options);
  if (result.error !== undefined) return result;
  const { view } = opened;
  const { shown, waiting } = await sorted(result.files, view);
  return { files: shown, ...skippedOf(result.skipped, view, waiting) };
}

export async function globAllowed(pattern: string, target: SearchTarget): Promise<GlobResult> {
  const { inner, judge, path, options } = target;
  if (!judge.refuses("read")) return inner.glob(pattern, path, options);
  const opened = await open(target);
  if ("error" in opened) return opened;
  const result = await inner.glob(pattern, path, opened.options);
  const { view } = opened;
  if (result.error !== undefined || !view.mayRefuse()) return result;
  const { shown, waiting } = await sorted(result.files, view);
  const { files: _, skipped, ...flags } = result;
  return { ...flags, files: shown, ...skippedOf(skipped, view, waiting) };
}

export interface GrepQuery {
  readonly pattern: string;
  readonly glob: string | null | undefined;
  readonly maxCount: number | null | undefined;
}

/** Hidden matches must not use up the requested number: then more are requested. */
export async function grepAllowed(query: GrepQuery, target: SearchTarget): Promise<GrepResult> {
  const { inner, judge, path, options } = target;
  const { pattern, glob, maxCount } = query;
  if (!judge.refuses("read")) return inner.grep(pattern, path, glob, maxCount, options);
  const opened = await open(target);
  if ("error" in opened) return opened;
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
  for (let wanted = cap; ; wanted *= 4) {
    const most = Number.isFinite(wanted) ? wanted : null;
    const result = await inner.grep(pattern, path, glob, most, opened.options);
    if (result.error !== undefined) return result;
    const { view } = opened;
    const modes = await judgeFiles(result.matches, view, target);
    const matches = result.matches.filter((match) => modes.get(match.path) === "allow");
    const isWhole = matches.length === result.matches.length;
    // Fewer than were wanted: there the backend has a limit of its own, and asking for more brings nothing.
    const canGrow = most !== null && result.matches.length >= most && !result.timedOut;
    if (result.truncated && canGrow && !isWhole && matches.length <= cap) continue;
    const { matches: _, skipped, truncated, ...flags } = result;
    const isCut = matches.length > cap || truncated === true;
    const waiting = [...modes].filter(([, mode]) => mode === "interrupt").map(([file]) => waitingFile(file));
    return {
      ...flags,
      matches: matches.length > cap ? matches.slice(0, cap) : matches,
      ...(isCut && { truncated: true }),
      ...skippedOf(skipped, view, waiting),
    };
  }
}

/** Lines are content: a file is judged by where links lead it too, each once. */
async function judgeFiles(
  matches: readonly GrepMatch[],
  view: DirectoryJudge,
  { judge, options, inner }: SearchTarget,
): Promise<Map<string, PermissionMode>> {
  const modes = new Map<string, PermissionMode>();
  for (const { path } of matches) {
    if (modes.has(path)) continue;
    const own = view.modeOf(path);
    modes.set(
      path,
      inner.realPath === undefined ? own : worst([own, await judge.mode("read", path, options)]),
    );
  }
  return modes;
}

async function sorted(
  files: readonly FileInfo[],
  view: DirectoryJudge,
): Promise<{ readonly shown: FileInfo[]; readonly waiting: SkippedFile[] }> {
  const shown: FileInfo[] = [];
  const waiting: SkippedFile[] = [];
  const slices = new Slices();
  for (const file of files) {
    if (slices.isDue) await slices.rest();
    const path = nameOf(file.path);
    if (view.shows(path, file.is_dir === true)) shown.push(file);
    else if (view.modeOf(path) === "interrupt") waiting.push(waitingFile(path));
  }
  return { shown, waiting };
}

function waitingFile(path: string): SkippedFile {
  return { path, code: "APPROVAL_REQUIRED" };
}

/** Files that could not be read are named only if their names may be seen. */
function skippedOf(
  skipped: readonly SkippedFile[] | undefined,
  view: DirectoryJudge,
  waiting: readonly SkippedFile[],
): { readonly skipped?: SkippedFile[] } {
  const named = (skipped ?? []).filter((file) => view.modeOf(nameOf(file.path)) === "allow");
  const all = [...named, ...waiting].sort((one, other) => (one.path < other.path ? -1 : 1));
  return all.length > 0 ? { skipped: all } : {};
}

/** Directories may be listed with a slash at the end. */
export function nameOf(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}
