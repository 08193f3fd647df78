/** `deepwright eval`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

export interface RawEvalOptions {
  readonly model?: readonly string[];
  readonly baseUrl?: string;
  readonly harness?: readonly string[];
  readonly trials?: string;
  readonly parallel?: string;
  readonly maxCost?: string;
  readonly maxTokens?: string;
  readonly maxSeconds?: string;
  readonly judge?: string;
  readonly json?: string;
  readonly junit?: string;
  readonly html?: string;
  readonly min?: string;
  /** `--no-worse-than`: a file; true when it is absent. */
  readonly worseThan?: string | boolean;
  readonly resume?: string;
}

/** `eval` and the commands below it. */
export type EvalRequest =
  | { readonly action: "run"; readonly suites: readonly string[]; readonly options: RawEvalOptions }
  | { readonly action: "compare"; readonly before: string; readonly after: string }
  | { readonly action: "record"; readonly record: RecordRequest; readonly options: RawEvalOptions }
  | { readonly action: "replay"; readonly files: readonly string[] };

export interface RecordRequest {
  readonly suite: string;
  readonly id: string;
  readonly file: string;
  readonly force: boolean;
}

export type EvalHandler = (request: EvalRequest) => Promise<ExitCode>;

export function addEval(program: Command, handler: EvalHandler): void {
  const command = program
    .command("eval")
    .description("evaluate the harness and models on cases with verifiers")
    .argument(
      "[suites...]",
      "paths of cases or of folders with cases, or built-in categories (default: all built-in ones)",
    )
    .option(
      "-m, --model <provider:model>",
      "a live model; may be given several times (default: scripted models)",
      collected,
    )
    .option("--base-url <url>", "a server to use instead of the provider's own")
    .option(
      "--harness <file>",
      "a module whose default export is a harness to compare with; may be given several times",
      collected,
    )
    .option("--trials <number>", "trials of each case (default: 1)")
    .option("--parallel <number>", "trials at once (default: 1, with --model 4)")
    .option("--max-cost <dollars>", "start no further trial when this much was spent")
    .option("--max-tokens <number>", "start no further trial when so many tokens were used")
    .option("--max-seconds <seconds>", "start no further trial after this time")
    .option("--judge <provider:model>", "the model for verifiers that ask a judge")
    .option("--json <file>", "write the report as JSON")
    .option("--junit <file>", "write the report as JUnit XML")
    .option("--html <file>", "write the report as one HTML page")
    .option("--min <share>", "fail when a smaller share of the trials passed, from 0 to 1")
    .option("--no-worse-than <file>", "fail when the result is worse than this report of --json")
    .option("--resume <file>", "continue a run that was stopped")
    .action(async (suites: readonly string[], options: RawEvalOptions) => {
      await handler({ action: "run", suites, options });
    })
    .addHelpText("after", `\n${HELP}`);
  command
    .command("compare")
    .description("show which cases changed between two reports, and with what confidence")
    .argument("<a>", "the report of the first run")
    .argument("<b>", "the report of the second run")
    .action(async (before: string, after: string) => {
      await handler({ action: "compare", before, after });
    });
  addCassettes(command, handler);
}

function addCassettes(command: Command, handler: EvalHandler): void {
  command
    .command("record")
    .description("run a case and keep the run as a cassette, with the model of --model or the case's script")
    .argument("<suite>", "a folder with cases, or the name of a built-in category")
    .argument("<case>", "the case")
    .argument("<file>", "the cassette to write")
    .option("--force", "replace the file")
    .action(async (suite: string, id: string, file: string, { force = false }: { force?: boolean }) => {
      const options = command.opts<RawEvalOptions>();
      await handler({ action: "record", record: { suite, id, file, force }, options });
    });
  command
    .command("replay")
    .description("run cassettes again without a model, and show the first request of each that differs")
    .argument("<files...>", "the cassettes")
    .action(async (files: readonly string[]) => {
      await handler({ action: "replay", files });
    });
}

function collected(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

const HELP = `Without --model the cases are played by scripted models: offline, deterministic, in less than a minute.
Exit code 0: all trials ran and no threshold was missed. 1: a threshold was missed, the run was stopped, or trials had
infrastructure failures. 2: the command or a case is wrong, and nothing was spent.

Examples:
  deepwright eval
  deepwright eval "file operations" ./evals/my-suite --html report.html
  deepwright eval "tool use/calls-tools-in-order"
  deepwright eval ./evals/my-suite --model ollama:qwen3 --trials 5 --max-seconds 600
  deepwright eval ./evals/my-suite --min 0.9 --no-worse-than baseline.json
  deepwright eval compare before.json after.json
  deepwright eval record ./evals/my-suite my-case my-case.cassette.json --model ollama:qwen3
  deepwright eval replay my-case.cassette.json`;
