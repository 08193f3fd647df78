/** `deepwright mcp`: puts the pieces together. Returns the exit code. */
import type { KnownServer, McpServerStatus, ToolChange } from "@deepwright/mcp";
import { changeLines } from "../approval/call-view.ts";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { realDirectory } from "../run/directory.ts";
import { homeOf } from "../state/home.ts";
import { count } from "../terminal/amounts.ts";
import { confirmed } from "../terminal/confirm.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { definitionLine, definitionLines } from "./definition-lines.ts";
import type { McpAction, RawMcpOptions } from "./mcp-command-line.ts";

type Library = typeof import("@deepwright/mcp");

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
    library: await import("@deepwright/mcp"),
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
  const rows = await Promise.all(
    known.map(async (server) => {
      const status = statuses?.find(({ name }) => name === server.name);
      const changed = (await changesOf(context, server)).map(({ name }) => name);
      return { server, status, changed, state: stateOf(server, status, changed.length) };
    }),
  );
  if (options.json) {
    const json = rows.map(({ server, state, status, changed }) => ({
      name: server.name,
      origin: server.origin,
      trusted: server.trusted,
      state,
      changed,
      files: server.files.map(({ path }) => path),
      changedFiles: server.changed,
      definition: server.definition,
      ...(status && { tools: status.tools, problem: status.problem ?? null }),
    }));
    console.json(JSON.stringify(json));
    return EXIT.done;
  }
  if (rows.length === 0) {
    console.line("There are no MCP servers here. 'deepwright mcp --help' says where to define them.");
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

/** Starts trusted servers only, without asking. */
async function started(context: Context): Promise<readonly McpServerStatus[]> {
  const mcp = await context.library.openMcp({ ...sourcesOf(context), onNotice: () => {} });
  try {
    return mcp.servers;
  } finally {
    await mcp.close();
  }
}

function stateOf(
  { definition, trusted, changed: files }: KnownServer,
  status: McpServerStatus | undefined,
  changed: number,
): string {
  if (definition.disabled) return "disabled";
  if (!trusted)
    return files.length > 0 ? `not trusted, ${count(files.length, "file")} changed` : "not trusted";
  const state = status === undefined ? "trusted" : status.state;
  return changed === 0 ? state : `${state}, ${count(changed, "tool")} changed`;
}

/** The tools of a server that may be used, which changed since they were agreed to. */
async function changesOf({ library, home }: Context, server: KnownServer): Promise<readonly ToolChange[]> {
  const { name, definition, directory, trusted } = server;
  if (!trusted || definition.disabled) return [];
  return (await library.trustOf(home)?.changedTools({ project: directory, name, definition })) ?? [];
}

async function trust(context: Context, words: readonly string[]): Promise<ExitCode> {
  const { library, console, options, directory, home } = context;
  const known = await wantedOf(context, words);
  const wanted = known.filter(
    ({ server }) => server.origin === "project" && (words.length > 0 || !server.trusted),
  );
  const changed = known.filter(({ changes }) => changes.length > 0);
  if (wanted.length + changed.length === 0) console.line("There is nothing to agree to here.");
  for (const { server, changes } of changed)
    for (const change of changes) if (!(await toolAgreed(context, server, change))) return EXIT.failed;
  for (const { server } of wanted) {
    const { name, definition, trusted, files } = server;
    const subject = { project: directory, name, definition, files };
    console.line(console.colours.bold(`The MCP server '${safeLine(name, 80)}' of ${safeLine(directory)}`));
    const asked = { ...server, variables: library.variablesIn(definition) };
    for (const line of definitionLines(asked, console.width)) console.line(line);
    if (trusted) console.line("It is already trusted.");
    else if (options.yes || (await confirmed("Use it from now on?", process))) {
      await library.trustOf(home)?.add(subject);
      const also =
        files.length > 0
          ? `, with ${count(files.length, "file")} as ${files.length > 1 ? "they are" : "it is"}`
          : "";
      console.line(`'${safeLine(name, 80)}' is trusted, as it is defined now${also}.`);
    } else return EXIT.failed;
  }
  return EXIT.done;
}

interface Wanted {
  readonly server: KnownServer;
  readonly changes: readonly ToolChange[];
}

/** The named servers, else all, with the tools that wait for a yes. */
async function wantedOf(context: Context, words: readonly string[]): Promise<readonly Wanted[]> {
  const known = await context.library.knownServers(sourcesOf(context));
  const all = await Promise.all(
    known.map(async (server) => ({ server, changes: await changesOf(context, server) })),
  );
  const open = all.filter(({ server, changes }) => server.origin === "project" || changes.length > 0);
  if (words.length === 0) return open;
  const servers = open.map(({ server }) => server);
  return words.map((name) => open[servers.indexOf(named(servers, name))] as Wanted);
}

/** Shows what changed. */
async function toolAgreed(
  { library, console, options, home }: Context,
  { name: server, definition, directory }: KnownServer,
  { name, before, now }: ToolChange,
): Promise<boolean> {
  const called = `'${safeLine(name, 80)}' of '${safeLine(server, 80)}'`;
  console.line(console.colours.bold(`The tool ${called} changed since you agreed to it`));
  const view = { width: console.width, colours: console.colours, full: true };
  for (const line of changeLines(before ? toolText(before) : "", toolText(now), view)) console.line(line);
  if (before === undefined)
    console.line("  The earlier description is not known any more: this is the whole new one.");
  if (!options.yes && !(await confirmed("Use it as it is described now?", process))) return false;
  await library.trustOf(home)?.approveTool({ project: directory, name: server, definition }, name);
  console.line(`${called} is trusted, as it is described now.`);
  return true;
}

function toolText({ title, description = "", inputSchema, annotations }: ToolChange["now"]): string {
  const says = [
    title,
    description,
    ...(annotations?.readOnlyHint ? ["It declares that it only reads."] : []),
  ];
  return [...says.filter(Boolean), JSON.stringify(inputSchema, undefined, 2)].join("\n");
}

function named(known: readonly KnownServer[], name: string): KnownServer {
  const found = known.find((server) => server.name === name);
  if (found) return found;
  throw usageError(
    `.mcp.json of this directory has no server '${safeLine(name, 80)}' that needs your consent.`,
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
    console.line(`'${safeLine(name, 80)}' ${isGone ? "is no longer trusted." : "was not trusted here."}`);
    if (!isGone) code = EXIT.failed;
  }
  return code;
}
