/** `deepwright serve`: names and help. Nothing heavy is loaded here. */
import { type Command, Option } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** As the command line gives them. */
export interface RawServeOptions {
  readonly port?: string;
  readonly host?: string;
  readonly role?: "api" | "worker" | "both";
  readonly db?: string;
  readonly allowOrigin?: readonly string[];
  readonly allowHostName?: readonly string[];
  readonly openHealth?: boolean;
  readonly openMetrics?: boolean;
  readonly studio?: boolean;
  /** The address of the page, for links to approvals. */
  readonly approvalLinks?: string;
  /** Files in PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** False with --no-open. */
  readonly open?: boolean;
  /** Directories of the CLI's own agent, each with an agent of its own. */
  readonly in?: readonly string[];
  readonly model?: string;
  readonly baseUrl?: string;
  /** False with --no-mcp. */
  readonly mcp?: boolean;
}

export type ServeHandler = (file: string | undefined, options: RawServeOptions) => Promise<ExitCode>;

export function addServe(program: Command, handler: ServeHandler): void {
  program
    .command("serve")
    .description("serve agents over HTTP")
    .argument("[file]", "deepwright.config.ts, .js or .mjs, or a langgraph.json; it runs as a program")
    .option(
      "--in <dir>",
      "a directory for the CLI's own agent (default: the current one); may be repeated",
      (value: string, before: readonly string[] = []) => [...before, value],
    )
    .option("--port <number>", "the port (default: 2024); 0 for any free port")
    .option("--host <address>", "the address to listen on (default: 127.0.0.1); others need authentication")
    .addOption(
      new Option("--role <role>", "api accepts runs, worker executes them (default: both)").choices([
        "api",
        "worker",
        "both",
      ]),
    )
    .option("--db <path|url>", "store threads and runs in this SQLite file or Postgres database")
    .option(
      "--allow-origin <origin>",
      "let pages of this origin use the server; may be repeated",
      (value: string, before: readonly string[] = []) => [...before, value],
    )
    .option(
      "--allow-host-name <name>",
      "also answer to this host name, such as behind a proxy; may be repeated",
      (value: string, before: readonly string[] = []) => [...before, value],
    )
    .option("--open-health", "answer /ok without a token, for load balancers")
    .option("--open-metrics", "answer /metrics without a token, for Prometheus")
    .option("--approval-links <address>", "webhooks carry links to approvals, on the page at this address")
    .option("--studio", "let LangGraph Studio use the server, and print its address")
    .option("--cert <file>", "speak HTTPS with this certificate (PEM); needs --key")
    .option("--key <file>", "the key of the certificate (PEM)")
    .option("--no-open", "do not open the page in a browser")
    .option("-m, --model <provider:model>", "the model of the CLI's own agent; chosen as for run")
    .option("--base-url <url>", "a server to use instead of the provider's own")
    .option("--no-mcp", "no MCP servers for the CLI's own agent")
    .action(async (file: string | undefined, options: RawServeOptions) => {
      await handler(file, options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `Without a file the CLI's own agent is served as 'agent'. It works in the current directory; changes and commands
wait for approval. With several --in, each directory has an agent of its own, with its own trust, settings and
permissions. A deepwright.config.ts or langgraph.json in the current directory runs only if you name it, or agree to
it at the terminal.

Every request needs the token. It is shown when it is made, and stored in server-token in DEEPWRIGHT_HOME
(default: ~/.deepwright). DEEPWRIGHT_SERVER_TOKEN replaces it. To listen beyond this machine, set it, or set token or
authenticate in the file. Data: --db, the file, DATABASE_URL, else a file for the directory in servers in
DEEPWRIGHT_HOME; with several --in, for the first of them.

Ctrl-C and SIGTERM wait for runs to pause (at most 30 seconds) and exit with 0; a second signal quits at once.

Examples:
  deepwright serve
  deepwright serve --in ~/shop --in ~/blog
  deepwright serve deepwright.config.ts --port 8080
  DATABASE_URL=postgres://… deepwright serve langgraph.json --role worker`;
