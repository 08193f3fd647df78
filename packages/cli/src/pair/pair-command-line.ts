/** `deepwright pair`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

export interface RawPairOptions {
  readonly port?: string;
  readonly url?: string;
  readonly cert?: string;
  readonly json?: boolean;
}

export type PairHandler = (options: RawPairOptions) => Promise<ExitCode>;

export function addPair(program: Command, handler: PairHandler): void {
  program
    .command("pair")
    .description("sign in a phone or another browser to a running server")
    .option("--port <number>", "the port of the server (default: 2024)")
    .option("--url <url>", "the address of the server, as the other device reaches it")
    .option(
      "--cert <file>",
      "the certificate of the server, if no authority that this machine knows signed it",
    )
    .option("--json", "print the link as JSON, without a QR code")
    .action(async (options: RawPairOptions) => {
      await handler(options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `Prints a link and its QR code. The link works once, for five minutes, and signs in one browser for 30 days.

A phone reaches the server only if it listens on the network, which needs a token that you chose:
  DEEPWRIGHT_SERVER_TOKEN=… deepwright serve --host 192.168.1.5 --cert cert.pem --key key.pem
  DEEPWRIGHT_SERVER_TOKEN=… deepwright pair --url https://192.168.1.5:2024 --cert cert.pem
Without --cert and --key everybody on the network can read and change what is sent.`;
