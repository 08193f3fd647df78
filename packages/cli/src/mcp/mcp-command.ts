/** `deepwright mcp`: puts the pieces together. Returns the exit code. */
import type { KnownServer, McpServerStatus } from "@deepwright/server/mcp";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { realDirectory } from "../run/directory.ts";
import { homeOf } from "../state/home.ts";
import { confirmed } from "../terminal/confirm.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { definitionLine, definitionLines } from "./definition-lines.ts";
import type { McpAction, RawMcpOptions } from "./mcp-command-line.ts";

type Library = typeof import("@deepwright/server/mcp");

interface Context {
  readonly library: Library;
  readonly console: Console;
  readonly options: RawMcpOptions;
  readonly directory: string;
  readonly home: string;
}

export async function mcpCommand(
  action: McpAction,
  words: readonly string[],
  options: RawMcpOptions,
): Promise<ExitCode> {
  if (action === "serve") {
    const { mcpServeCommand } = await import("./mcp-serve.ts");
    return mcpServeCommand(words[0], options);
  }
  const context: Context = {
    library: await import("@deepwright/server/mcp"),
    console: new Console(process.stdout, process.stderr, process.env),
    options,
    directory: await realDirectory(options.in ?? "."),
    home: homeOf(process.env),
  };
  try {
    return await { list, trust, untrust }[action](context, words);
  } catch (error) {
    if ((error as { name?: string }).name !== "ConfigurationError") throw error;
    throw new CommandError(safeLine((error as Error).message, 1_000), { cause: error });
  }
}

const sourcesOf = ({ directory, home }: Context) => ({ project: directory, home });

async function list(context: Context): Promise<ExitCode> {
  const { library, console, options } = context;
  const known = await library.knownServers(sourcesOf(context));
  const statuses = options.tools ? await started(context) : undefined;
  const rows = known.map((server) => {
    const status = statuses?.find(({ name }) => name === server.name);
    return { server, status, state: stateOf(server, status) };
  });
  if (options.json) {
    const json = rows.map(({ server: { name, origin, trusted, definition }, state, status }) => ({
      name,
      origin,
      trusted,
      state,
      definition,
      ...(status && { tools: status.tools, problem: status.problem ?? null }),
    }));
    console.json(JSON.stringify(json));
    return EXIT.done;
  }
  if (rows.length === 0) {
    console.line("There are no MCP servers here. 'deepwright mcp --help' says where they are written down.");
    return EXIT.done;
  }
  const columns = [{ heading: "name" }, { heading: "from" }, { heading: "state" }, { heading: "what" }];
  const cells = rows.map(({ server, state }) => [
    safeLine(server.name, 40),
    server.origin === "project" ? "project" : "you",
    state,
    definitionLine(server.definition),
  ]);
  for (const line of tableLines(columns, cells)) console.result(line);
  for (const { status } of rows) {
    if (status?.problem !== undefined)
      console.result(`${safeLine(status.name)}: ${safeLine(status.problem, 1_000)}`);
    for (const tool of status?.tools ?? []) console.result(`  ${tool}`);
  }
  return EXIT.done;
}

/** Nobody is asked: what is not trusted is not started. */
async function started(context: Context): Promise<readonly McpServerStatus[]> {
  const mcp = await context.library.openMcp({ ...sourcesOf(context), onNotice: () => {} });
  try {
    return mcp.servers;
  } finally {
    await mcp.close();
  }
}

function stateOf({ definition, trusted }: KnownServer, status: McpServerStatus | undefined): string {
  if (definition.disabled) return "disabled";
  if (!trusted) return "not trusted";
  return status === undefined ? "trusted" : status.state;
}

async function trust(context: Context, words: readonly string[]): Promise<ExitCode> {
  const { library, console, options, directory, home } = context;
  const known = (await library.knownServers(sourcesOf(context))).filter(({ origin }) => origin === "project");
  const wanted =
    words.length > 0 ? words.map((name) => named(known, name)) : known.filter(({ trusted }) => !trusted);
  if (wanted.length === 0) console.line("There is nothing to agree to here.");
  for (const { name, definition, trusted } of wanted) {
    const subject = { project: directory, name, definition };
    console.line(console.colours.bold(`The MCP server '${safeLine(name, 80)}' of ${safeLine(directory)}`));
    const asked = { name, definition, variables: library.variablesIn(definition) };
    for (const line of definitionLines(asked, console.width)) console.line(line);
    if (trusted) console.line("It is trusted already.");
    else if (options.yes || (await confirmed("Use it from now on?", process))) {
      await library.trustOf(home)?.add(subject);
      console.line(`'${safeLine(name, 80)}' is trusted, as it is defined now.`);
    } else return EXIT.failed;
  }
  return EXIT.done;
}

function named(known: readonly KnownServer[], name: string): KnownServer {
  const found = known.find((server) => server.name === name);
  if (found) return found;
  throw usageError(
    `.mcp.json of this directory has no server '${safeLine(name, 80)}' that would have to be agreed to.`,
    known.length > 0 ? `It has ${known.map((one) => safeLine(one.name, 80)).join(", ")}.` : "It has none.",
  );
}

async function untrust(
  { library, console, directory, home }: Context,
  words: readonly string[],
): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  for (const name of words) {
    const isGone = (await library.trustOf(home)?.remove(directory, name)) === true;
    console.line(`'${safeLine(name, 80)}' ${isGone ? "is not trusted any more." : "was not trusted here."}`);
    if (!isGone) code = EXIT.failed;
  }
  return code;
}
