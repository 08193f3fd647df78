/** Loads suites: folders with `*.case.ts` files and directories with a `case.yaml`, Harbor tasks, and files of JSON lines. */
import type { Dirent } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { harborCase } from "../formats/harbor-case.ts";
import { casesFromJsonl } from "../formats/import-jsonl.ts";
import { caseOfFile } from "./case-file.ts";
import { problemsOfSuite } from "./check-case.ts";
import type { EvalCase, Suite } from "./eval-case.ts";
import { EvalsError } from "./evals-error.ts";

/** Loads a module that the person named; a program knows how to read TypeScript here. */
export type ImportModule = (path: string) => Promise<Readonly<Record<string, unknown>>>;

const MODULE = /\.case\.[cm]?[jt]s$/;
const MOST_FILE_BYTES = 10 * 1024 * 1024;

/**
 * The cases at a path: a folder of cases or of such folders, one case, or a file of JSON lines. The category is the name
 * of the folder, or of the file of lines. Throws one `EvalsError` that lists every problem of every file.
 */
export async function loadSuites(path: string, importModule: ImportModule): Promise<Suite[]> {
  const root = resolve(path);
  if (path.endsWith(".jsonl"))
    return [{ category: basename(root, ".jsonl"), cases: casesFromJsonl((await textOf(root)) ?? "", path) }];
  const problems: string[] = [];
  const suites = await suitesAt(root, { importModule, problems });
  if (problems.length > 0)
    throw new EvalsError(
      `These evals cannot run:\n  ${[...problems, ...suites.flatMap(problemsOfSuite)].join("\n  ")}`,
    );
  if (suites.length > 0) return suites;
  throw new EvalsError(
    `${path} has no case.`,
    "A case is a file NAME.case.ts, a directory with a case.yaml or a task.toml, or a line of a file NAME.jsonl.",
  );
}

interface Loading {
  readonly importModule: ImportModule;
  /** In sentences; files with a problem are left out. */
  readonly problems: string[];
}

async function suitesAt(root: string, loading: Loading): Promise<Suite[]> {
  const stat = await lstat(root).catch((cause: Error) => {
    throw new EvalsError(`${root} cannot be read: ${cause.message}`);
  });
  const own = stat.isFile() ? await casesOfEntry(root, true, loading) : await caseOfDirectory(root, loading);
  if (own.length > 0 || !stat.isDirectory())
    return own.length === 0 ? [] : [{ category: basename(dirname(root)), cases: own }];
  const suite = await suiteOf(root, loading);
  if (suite !== undefined) return [suite];
  const folders = (await entriesOf(root)).filter((entry) => entry.isDirectory());
  const found: Suite[] = [];
  for (const { name } of folders) found.push(...[(await suiteOf(join(root, name), loading)) ?? []].flat());
  return found;
}

/** Cases come in the order of their names. Links are left out. */
async function suiteOf(folder: string, loading: Loading): Promise<Suite | undefined> {
  const before = loading.problems.length;
  const cases: EvalCase[] = [];
  for (const entry of await entriesOf(folder))
    cases.push(...(await casesOfEntry(join(folder, entry.name), entry.isFile(), loading)));
  if (cases.length === 0 && loading.problems.length === before) return undefined;
  return { category: basename(folder), cases };
}

async function casesOfEntry(path: string, isFile: boolean, loading: Loading): Promise<EvalCase[]> {
  if (!isFile) return caseOfDirectory(path, loading);
  if (!MODULE.test(path)) return [];
  return orProblem(() => casesOfModule(path, loading.importModule), loading);
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function orProblem(work: () => Promise<EvalCase[]>, { problems }: Loading): Promise<EvalCase[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof EvalsError)) throw error;
    problems.push(error.message);
    return [];
  }
}

async function casesOfModule(path: string, importModule: ImportModule): Promise<EvalCase[]> {
  const { default: given } = await importModule(path);
  const cases = [given].flat();
  if (cases.some((each) => typeof each !== "object" || each === null))
    throw new EvalsError(`${basename(path)} needs a case, or a list of cases, as its default export.`);
  return cases as EvalCase[];
}

async function caseOfDirectory(directory: string, loading: Loading): Promise<EvalCase[]> {
  return orProblem(async () => {
    const text = await textOf(join(directory, "case.yaml"));
    if (text === undefined)
      return (await isFile(join(directory, "task.toml"))) ? [await harborCase(directory)] : [];
    const task = await textOf(join(directory, "task.md"));
    const files = await startFiles(join(directory, "files"));
    return [caseOfFile({ id: basename(directory), text, task: task?.trim(), files })];
  }, loading);
}

/** Files of the agent by absolute path. */
async function startFiles(directory: string): Promise<Record<string, string>> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  const files: [string, string][] = [];
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const text = await textOf(path);
    if (text !== undefined) files.push([`/${relative(directory, path).split(sep).join("/")}`, text]);
  }
  return Object.fromEntries(files.sort(([one], [other]) => (one < other ? -1 : 1)));
}

async function isFile(path: string): Promise<boolean> {
  const stat = await lstat(path).catch(() => undefined);
  return stat?.isFile() ?? false;
}

/** Undefined for what is no regular file. */
async function textOf(path: string): Promise<string | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined || !stat.isFile()) return undefined;
  if (stat.size > MOST_FILE_BYTES)
    throw new EvalsError(`${basename(path)} is larger than ${MOST_FILE_BYTES} bytes.`);
  return readFile(path, "utf8");
}
