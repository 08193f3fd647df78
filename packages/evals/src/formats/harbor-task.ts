/** Reads a Harbor task: a directory with `task.toml`, `instruction.md`, `environment/` and `tests/test.sh`. */
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse, TomlError } from "smol-toml";
import { z } from "zod";
import { EvalsError } from "../format/evals-error.ts";
import { environmentOf, type TaskFiles } from "./harbor-environment.ts";

export interface HarborTask {
  readonly name: string;
  readonly instruction: string;
  /** Files of the environment, where its Dockerfile puts them. */
  readonly files: TaskFiles;
  /** Directory in which commands start, as the Dockerfile says; default `/app`. */
  readonly workingDirectory: string;
  /** Variables of the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Image of the environment; undefined when the task names none. */
  readonly image: string | undefined;
  readonly tests: TaskFiles;
  readonly agentSeconds: number;
  readonly verifierSeconds: number;
}

const seconds = z.number().positive().max(86_400);

/** Tables and keys that do not matter here are ignored. */
const manifest = z.looseObject({
  schema_version: z.string().optional(),
  version: z.string().optional(),
  task: z.looseObject({ name: z.string() }).optional(),
  agent: z.looseObject({ timeout_sec: seconds.optional() }).optional(),
  verifier: z.looseObject({ timeout_sec: seconds.optional() }).optional(),
  environment: z.looseObject({ docker_image: z.string().optional(), os: z.string().optional() }).optional(),
  steps: z.array(z.unknown()).optional(),
});

const DEFAULT_SECONDS = 600;
const MOST_FILES = 2_000;
const MOST_BYTES = 64 * 1024 * 1024;

/** Throws an `EvalsError` that says what the task needs and cannot have here. */
export async function readHarborTask(directory: string): Promise<HarborTask> {
  const facts = manifestOf(await textAt(directory, "task.toml"), directory);
  const instruction = await textAt(directory, "instruction.md");
  const [environment, tests] = [
    await filesIn(join(directory, "environment")),
    await filesIn(join(directory, "tests")),
  ];
  if (tests["test.sh"] === undefined) throw problem(directory, "it has no tests/test.sh");
  const image = facts.environment?.docker_image;
  const placed = environmentOf(environment, image !== undefined);
  if ("problem" in placed) throw problem(directory, placed.problem);
  return {
    name: facts.task?.name ?? directory.replace(/[/\\]+$/, "").replace(/^.*[/\\]/, ""),
    instruction,
    ...placed,
    image,
    tests,
    agentSeconds: facts.agent?.timeout_sec ?? DEFAULT_SECONDS,
    verifierSeconds: facts.verifier?.timeout_sec ?? DEFAULT_SECONDS,
  };
}

function manifestOf(text: string, directory: string): z.infer<typeof manifest> {
  let given: unknown;
  try {
    given = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw problem(directory, `task.toml is not TOML: ${error.message}`);
  }
  const { success, data, error } = manifest.safeParse(given);
  if (!success)
    throw problem(
      directory,
      error.issues.map(({ path, message }) => `task.toml: ${path.join(".")}: ${message}`).join("; "),
    );
  const version = data.schema_version ?? data.version ?? "1.0";
  if (!/^1(\.|$)/.test(version))
    throw problem(directory, `it has the schema version ${version}, and 1.x is read`);
  if (data.steps !== undefined)
    throw problem(directory, "it has several steps, and only tasks of one step are run");
  const system = data.environment?.os ?? "linux";
  if (system !== "linux") throw problem(directory, `it needs ${system}`);
  return data;
}

/** The model reads the text: a link could name any file of this machine. */
async function textAt(directory: string, name: string): Promise<string> {
  const path = join(directory, name);
  try {
    if ((await lstat(path)).isFile()) return await readFile(path, "utf8");
  } catch (cause) {
    throw problem(directory, `${name} cannot be read: ${(cause as Error).message}`);
  }
  throw problem(directory, `${name} is no file`);
}

/** Regular files alone: a link may lead anywhere. A directory that is not there is empty. */
async function filesIn(directory: string): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  let bytes = 0;
  const walk = async (path: string): Promise<void> => {
    for (const name of (await readdir(join(directory, path))).sort()) {
      const inner = path === "" ? name : `${path}/${name}`;
      const found = await lstat(join(directory, inner));
      if (found.isDirectory()) await walk(inner);
      else if (!found.isFile()) throw problem(directory, `${inner} is neither a file nor a directory`);
      else {
        bytes += found.size;
        if (bytes > MOST_BYTES || Object.keys(files).length >= MOST_FILES)
          throw problem(directory, `it has more than ${MOST_FILES} files or ${MOST_BYTES / 1024 / 1024} MiB`);
        files[inner] = await readFile(join(directory, inner));
      }
    }
  };
  const isThere = await lstat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isThere) await walk("");
  return files;
}

function problem(directory: string, words: string): EvalsError {
  return new EvalsError(`The task in ${directory} cannot be run: ${words}.`);
}
