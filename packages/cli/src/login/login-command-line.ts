/** `deepwright login` and `logout`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

export type LoginAction = "login" | "logout";

export interface RawLoginOptions {
  readonly list?: boolean;
}

export type LoginHandler = (
  action: LoginAction,
  service: string | undefined,
  options: RawLoginOptions,
) => Promise<ExitCode>;

export function addLogin(program: Command, handler: LoginHandler): void {
  program
    .command("login")
    .description("store the key of a model provider, or of web search (tavily)")
    .argument("[service]", "for example anthropic, openai, openrouter, tavily")
    .option("--list", "show for which services keys are stored, and where")
    .action(async (service: string | undefined, options: RawLoginOptions) => {
      await handler("login", service, options);
    })
    .addHelpText("after", `\n${HELP}`);
  program
    .command("logout")
    .description("remove a stored key")
    .argument("<service>", "the service")
    .action(async (service: string) => {
      await handler("logout", service, {});
    });
}

const HELP = `The key is asked for at the terminal, where it is not shown, or read from stdin. It is stored in the keyring of the
operating system (secret-tool on Linux, the keychain on macOS); where there is none, in keys.json in DEEPWRIGHT_HOME
(default: ~/.deepwright), which only you can read. DEEPWRIGHT_KEYRING=off always takes the file. A variable that is set,
such as OPENAI_API_KEY, counts before a stored key.

Examples:
  deepwright login anthropic
  deepwright login openai < key.txt
  deepwright login --list`;
