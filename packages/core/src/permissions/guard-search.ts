/** Listing and searching under rules: what may not be read is not there, and what needs approval is reported. */
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
import { type DirectoryJudge, type Judge, refusalOf, worst } from "./judge.ts";
import type { PermissionMode } from "./rules.ts";

export interface SearchPlace {
  readonly inner: BackendProtocol;
  readonly judge: Judge;
  /** Canonical. */
  readonly path: string;
  readonly options: OperationOptions | undefined;
}

interface Opened {
  readonly view: DirectoryJudge;
  readonly refusal: FileError | undefined;
}

/** A directory that may not be read but leads to what may be is shown as far as it leads there. */
async function open({ inner, judge, path, options }: SearchPlace): Promise<Opened> {
  const view = await judge.below("read", path, options);
  const { mode } = view;
  if (mode === "allow") return { view, refusal: undefined };
  const refusal = refusalOf(mode, "read", path);
  if (mode === "interrupt" || !view.leadsOn(path)) return { view, refusal };
  const listed = await inner.ls(path, asHarness(options));
  return { view, refusal: listed.error === undefined ? undefined : refusal };
}

export async function lsAllowed(place: SearchPlace): Promise<LsResult> {
  const { inner, judge, path, options } = place;
  if (!judge.refuses("read")) return inner.ls(path, options);
  const { view, refusal } = await open(place);
  if (refusal !== undefined) return refusal;
  const result = await inner.ls(path, options);
  if (result.error !== undefined) return result;
  const { shown, waiting } = sorted(result.files, view);
  return { files: shown, ...skippedOf(result.skipped, view, waiting) };
}

export async function globAllowed(pattern: string, place: SearchPlace): Promise<GlobResult> {
  const { inner, judge, path, options } = place;
  if (!judge.refuses("read")) return inner.glob(pattern, path, options);
  const { view, refusal } = await open(place);
  if (refusal !== undefined) return refusal;
  const result = await inner.glob(pattern, path, options);
  if (result.error !== undefined || !view.mayRefuse()) return result;
  const { shown, waiting } = sorted(result.files, view);
  const { files: _, skipped, ...flags } = result;
  return { ...flags, files: shown, ...skippedOf(skipped, view, waiting) };
}

export interface GrepQuery {
  readonly pattern: string;
  readonly glob: string | null | undefined;
  readonly maxCount: number | null | undefined;
}

/** What is left out must not use up the number that was asked for: then more is asked for. */
export async function grepAllowed(query: GrepQuery, place: SearchPlace): Promise<GrepResult> {
  const { inner, judge, path, options } = place;
  const { pattern, glob, maxCount } = query;
  if (!judge.refuses("read")) return inner.grep(pattern, path, glob, maxCount, options);
  const { view, refusal } = await open(place);
  if (refusal !== undefined) return refusal;
  const cap = typeof maxCount === "number" && maxCount >= 1 ? Math.floor(maxCount) : Number.POSITIVE_INFINITY;
  const modes = new Map<string, PermissionMode>();
  for (let wanted = cap; ; wanted *= 4) {
    const most = Number.isFinite(wanted) ? wanted : null;
    const result = await inner.grep(pattern, path, glob, most, options);
    if (result.error !== undefined) return result;
    await judgeFiles(result.matches, modes, view, place);
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
  modes: Map<string, PermissionMode>,
  view: DirectoryJudge,
  { judge, options, inner }: SearchPlace,
): Promise<void> {
  for (const { path } of matches) {
    if (modes.has(path)) continue;
    const own = view.modeOf(path);
    modes.set(
      path,
      inner.realPath === undefined ? own : worst([own, await judge.mode("read", path, options)]),
    );
  }
}

function sorted(
  files: readonly FileInfo[],
  view: DirectoryJudge,
): { readonly shown: FileInfo[]; readonly waiting: SkippedFile[] } {
  const shown: FileInfo[] = [];
  const waiting: SkippedFile[] = [];
  for (const file of files) {
    const path = nameOf(file.path);
    if (view.shows(path, file.is_dir === true)) shown.push(file);
    else if (view.modeOf(path) === "interrupt") waiting.push(waitingFile(path));
  }
  return { shown, waiting };
}

function waitingFile(path: string): SkippedFile {
  return { path, code: "APPROVAL_REQUIRED" };
}

/** What could not be read is not named where its name may not be. */
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
