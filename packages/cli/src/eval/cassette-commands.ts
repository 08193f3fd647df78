/** `deepwright eval record` and `deepwright eval replay`. Return the exit code. */
import { mkdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { Console } from "../terminal/console.ts";
import { safeLine, safeText } from "../terminal/safe-text.ts";
import { writeLines } from "../threads/transfer.ts";
import type { RawEvalOptions, RecordRequest } from "./eval-command-line.ts";
import { sourcesOf } from "./eval-models.ts";
import { harnessesOf, suitesOf } from "./eval-suites.ts";

type Evals = typeof import("@deepwright/evals");

export async function recordCassette(
  { suite: name, id, file, force }: RecordRequest,
  { model, baseUrl }: RawEvalOptions,
  evals: Evals,
): Promise<ExitCode> {
  const isLive = model !== undefined;
  const models = await sourcesOf({ model, baseUrl }, evals);
  const [source] = models;
  if (source === undefined || models.length > 1) throw usageError("A cassette is of one model.");
  const [suite] = await suitesOf([name], evals, isLive);
  const cases = suite?.cases ?? [];
  const given = cases.find((each) => each.id === id);
  if (suite === undefined || given === undefined)
    throw usageError(
      `There is no case '${id}'.`,
      `The cases are: ${cases.map((each) => each.id).join(", ")}.`,
    );
  evals.checkPlan({
    suites: [{ ...suite, cases: [given] }],
    harnesses: await harnessesOf({}, evals, isLive),
    models,
    // Verifiers do not run here.
    judge: async () => "",
  });
  const cassette = await evals.recordCase(given, source);
  await mkdir(dirname(resolve(file)), { recursive: true });
  await writeLines(file, Readable.from([evals.cassetteText(cassette).trimEnd()]), force);
  newConsole().result(
    safeLine(`Recorded ${id} with ${cassette.requests.length} requests: ${resolve(file)}`, 400),
  );
  return EXIT.done;
}

/** Replays all of them, even when one differs. */
export async function replayCassettes(files: readonly string[], evals: Evals): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  for (const file of files) {
    try {
      const { requests } = await evals.replayCassette(file);
      newConsole().result(safeLine(`same: ${file} (${requests} requests)`, 400));
    } catch (error) {
      if (isNoFile(error)) throw new CommandError(`'${file}' cannot be read: ${error.message}.`);
      if (!(error instanceof evals.CassetteDivergence)) throw error;
      code = EXIT.failed;
      newConsole().result(safeText(`different: ${file}\n${error.message}`));
    }
  }
  return code;
}

function isNoFile(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

function newConsole(): Console {
  return new Console(process.stdout, process.stderr, process.env);
}
