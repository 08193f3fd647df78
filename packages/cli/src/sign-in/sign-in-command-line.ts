/** `deepwright sign-in`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** Where `deepwright serve` listens unless it is set otherwise. */
export const USUAL_URL = "http://127.0.0.1:2024";

export interface RawSignInOptions {
  readonly url?: string;
}

export type SignInHandler = (options: RawSignInOptions) => Promise<ExitCode>;

export function addSignIn(program: Command, handler: SignInHandler): void {
  program
    .command("sign-in")
    .description("print a link that signs a browser in to a running server")
    .option("--url <url>", `the server (default: ${USUAL_URL})`)
    .action(async (options: RawSignInOptions) => {
      await handler(options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `The link works once, for five minutes. The token of the server is taken from DEEPWRIGHT_SERVER_TOKEN, else from
server-token in DEEPWRIGHT_HOME.`;
