/** `deepwright config`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them; each action knows its own. */
export interface RawConfigOptions {
  readonly in?: string;
  readonly json?: boolean;
  readonly user?: boolean;
  readonly project?: boolean;
  readonly local?: boolean;
  readonly unset?: boolean;
}

export type ConfigAction = "get" | "set" | "list" | "edit" | "schema";

export type ConfigHandler = (
  action: ConfigAction,
  words: readonly string[],
  options: RawConfigOptions,
) => Promise<ExitCode>;

export function addConfig(program: Command, handler: ConfigHandler): void {
  const config = program
    .command("config")
    .description("settings, and where each of them comes from")
    .addHelpText("after", `\n${HELP}`);
  const add = (action: ConfigAction, words: string, description: string): Command =>
    config
      .command(`${action} ${words}`.trim())
      .description(description)
      .option("--in <dir>", "the directory of the project (default: the current one)")
      .action(async (...given: unknown[]) => {
        const names = given.slice(0, -2).filter((word) => typeof word === "string");
        await handler(action, names, given.at(-2) as RawConfigOptions);
      });
  const files = (command: Command): Command =>
    command
      .option("--user", "your own settings, for every directory (default)")
      .option("--project", "the settings of the project: .deepwright/settings.json")
      .option("--local", "your own for this project: .deepwright/settings.local.json");
  add("get", "<key>", "print a value, and where it comes from").option("--json", "print it as JSON");
  files(
    add("set", "<key> [value]", "change a value; lists and objects are written as JSON").option(
      "--unset",
      "remove it",
    ),
  );
  add("list", "", "show the settings that count here, and where each comes from").option(
    "--json",
    "print them as JSON",
  );
  files(add("edit", "", "open a file of settings in your editor, and check it"));
  add("schema", "", "print the JSON schema of the settings");
}

const HELP = `Settings are read from these places. Later ones count more:
  ~/.deepwright/settings.json          your own (DEEPWRIGHT_HOME names another directory)
  .deepwright/settings.json            the project's
  .deepwright/settings.local.json      your own for this project; keep it out of the repository
  DEEPWRIGHT_MODEL, DEEPWRIGHT_MODE …  variables
  --model, --sandbox …                 flags

A project's settings that run or allow something count only after you trust the directory: deepwright trust.
Keys of model providers are no settings: see deepwright login.

Examples:
  deepwright config list
  deepwright config set model ollama:qwen3
  deepwright config set commands.allow '["npm test", "npm run lint *"]' --local
  deepwright config get sandbox.kind
  deepwright config edit --project`;
