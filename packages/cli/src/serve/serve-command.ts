/** `deepwright serve`: puts the pieces together. Returns the exit code. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { RunningServer, ServeOptions } from "@deepwright/server";
import { withoutSecrets } from "deepwright/secrets";
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { realDirectory } from "../run/directory.ts";
import { USUAL_URL } from "../sign-in/sign-in-command-line.ts";
import { databaseName, databaseOf } from "../state/database.ts";
import { homeOf } from "../state/home.ts";
import { confirmed } from "../terminal/confirm.ts";
import { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import type { OwnAgentOptions } from "./own-agent.ts";
import { pageFolder } from "./page-folder.ts";
import type { RawServeOptions } from "./serve-command-line.ts";
import { findConfig, loadConfig } from "./served-config.ts";
import { studioAddress, withStudio } from "./studio.ts";

export async function serveCommand(file: string | undefined, raw: RawServeOptions): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  // A server outlives the reader of its lines.
  process.stderr.on("error", () => {});
  const given = { ...givenOptions(raw), ...(await tlsOf(raw)) };
  const served = await whatToServe(file, raw, console, partsForPage);
  const placed = withPlaces({ ...served.options, ...given }, served.directory);
  const options = raw.studio ? withStudio(placed) : placed;
  const { serve } = await import("@deepwright/server");
  let server: RunningServer;
  try {
    server = await serve(options);
  } catch (error) {
    await served.close();
    throw startFailure(error, options);
  }
  const stopped = firstSignal();
  announce(server, options, console);
  if (raw.studio) console.line(`Studio: ${studioAddress(server.url)}`);
  const forget = await announcePage(server, options, raw, console);
  const signal = await stopped;
  await forget();
  console.line(
    `${signal}: waiting for runs to pause, at most ${limitOf(options) / 1000} s; a second signal quits at once.`,
  );
  await settledWithin(
    server.close().finally(() => served.close()),
    limitOf(options),
  );
  console.line("Stopped.");
  return EXIT.done;
}

/** Options from the command line; the file provides the others. */
function givenOptions(raw: RawServeOptions): Partial<ServeOptions> {
  const { port, host, role, db, allowOrigin, allowHostName, openHealth, openMetrics, approvalLinks } = raw;
  return {
    ...(port !== undefined && { port: portOf(port) }),
    ...(host !== undefined && { host }),
    ...(role !== undefined && { role }),
    ...(db !== undefined && { database: db }),
    ...(allowOrigin && { allowedOrigins: allowOrigin }),
    ...(allowHostName && { allowedHosts: allowHostName }),
    ...(openHealth && { openHealth }),
    ...(openMetrics && { openMetrics }),
    ...(approvalLinks !== undefined && { approvals: { links: { url: approvalLinks } } }),
  };
}

/** A database that ends with the process. */
const IN_MEMORY = ":memory:";

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw usageError(
    `--port is '${safeLine(text, 60)}', which is not a port.`,
    "Give a number from 0 to 65535.",
  );
}

function databaseFor(given: string): string {
  if (given === IN_MEMORY) return given;
  const database = databaseOf(given, {});
  return database.kind === "postgres" ? database.url : database.path;
}

interface Served {
  readonly options: ServeOptions;
  /** The real path of the directory the agents belong to. */
  readonly directory: string;
  close(): Promise<void>;
}

/** `more`: what only a server with a page needs of the CLI's own agent in a directory. */
export async function whatToServe(
  file: string | undefined,
  raw: Pick<RawServeOptions, "model" | "baseUrl" | "mcp" | "in">,
  console: Console,
  more: (directory: string) => Promise<Partial<OwnAgentOptions>> = async () => ({}),
): Promise<Served> {
  const { in: places, ...wish } = raw;
  if (file !== undefined && places !== undefined)
    throw usageError("--in is for the CLI's own agent; the agents of a file say themselves where they work.");
  const named = file ?? (places === undefined ? await agreedConfig() : undefined);
  if (named === undefined) {
    const { openOwnAgents } = await import("./own-agents.ts");
    const directories = [...new Set(await Promise.all((places ?? ["."]).map(realDirectory)))];
    const own = await openOwnAgents(
      directories,
      async (directory) => ({ ...wish, budget: {}, offersChoices: true, ...(await more(directory)) }),
      console,
    );
    return { ...own, directory: directories[0] as string };
  }
  if (raw.model !== undefined || raw.baseUrl !== undefined)
    throw usageError(
      "--model and --base-url are for the CLI's own agent; the agents of a file choose their own model.",
    );
  const { options, warnings } = await loadConfig(resolve(named));
  for (const line of warnings) console.line(console.colours.yellow(`Warning: ${line}`));
  return { options, directory: await realDirectory(dirname(resolve(named))), close: async () => {} };
}

/** Model calls of an agent itself before it asks whether to go on. */
const STEPS = 25;

/** Limits, and permissions that a person gave for the directory, in the terminal or on the page. */
async function partsForPage(directory: string): Promise<Pick<OwnAgentOptions, "budget" | "rules" | "save">> {
  const { loadRules, saveRule } = await import("../app/session/project-rules.ts");
  return {
    budget: { maxStepsPerAgent: STEPS },
    rules: await loadRules(directory, process.env),
    save: (rule) => saveRule(rule, directory, process.env),
  };
}

/** A config file is a program, and anybody may have written it: it runs only after a yes. */
async function agreedConfig(): Promise<string | undefined> {
  const name = await findConfig(".");
  if (name === undefined) return undefined;
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw usageError(
      `${name} was found here. It runs as a program, and only after you agree.`,
      `Name it: deepwright serve ${name}`,
    );
  if (await confirmed(`${name} was found here and runs as a program. Serve it?`, process)) return name;
  throw new CommandError("Nothing is served.");
}

/** A stop takes at most 30 seconds: first draining, then closing. */
const CLOSING_MS = 5_000;
const DRAIN_MS = 25_000;

export function withPlaces(options: ServeOptions, directory: string): ServeOptions {
  const { DATABASE_URL, DEEPWRIGHT_SERVER_TOKEN: token } = process.env;
  const home = homeOf(process.env);
  const page = options.page ?? pageFolder();
  return {
    ...options,
    ...(page !== undefined && { page }),
    ...(token && !options.authenticate && !options.token && { token }),
    tokenFile: options.tokenFile ?? join(home, "server-token"),
    database: databaseFor(options.database ?? (DATABASE_URL || ownDatabase(home, directory))),
    drainMs: options.drainMs ?? DRAIN_MS,
  };
}

/** One database per project: a server must not continue runs of an equally named agent in another. */
function ownDatabase(home: string, directory: string): string {
  const key = createHash("sha256").update(directory).digest("hex").slice(0, 16);
  return join(home, "servers", `${safeName(basename(directory))}-${key}.db`);
}

const safeName = (name: string): string => name.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 40);

function limitOf({ drainMs = DRAIN_MS }: ServeOptions): number {
  return drainMs + CLOSING_MS;
}

export function startFailure(error: unknown, options: ServeOptions): unknown {
  const { code, name, message = String(error) } = (error ?? {}) as NodeJS.ErrnoException;
  const { port = 2024, host = "127.0.0.1" } = options;
  const place = `port ${port} of ${safeLine(host)}`;
  const words = safeLine(withoutSecrets(message, process.env), 600);
  if (code === "EADDRINUSE")
    return new CommandError(`Another program listens on ${place}.`, {
      hint: "Choose another with --port; 0 uses any free port.",
      cause: error,
    });
  if (code === "EACCES" && (error as { syscall?: string }).syscall === "listen")
    return new CommandError(`No permission to listen on ${place}.`, { cause: error });
  if (name !== "ConfigurationError")
    return new CommandError(`The server cannot start: ${words}`, { cause: error });
  const hint = message.includes("without authentication") ? "Or set DEEPWRIGHT_SERVER_TOKEN." : undefined;
  return usageError(words, hint);
}

function announce({ url, token, app }: RunningServer, options: ServeOptions, console: Console): void {
  const { database = "", role = "both" } = options;
  const place = database === IN_MEMORY ? "in memory only" : databaseName(databaseOf(database, {}));
  console.line(`Agents: ${safeLine(app.agents.names.join(", "), 500)}`);
  console.line(`Data: ${safeLine(place)}${role === "both" ? "" : ` · ${role}`}`);
  if (token?.created) console.line(`Token, shown only once: ${token.token}`);
  if (token) console.line(`The token is in ${safeLine(token.path)}`);
  console.line(`Listening on ${url}`);
}

async function tlsOf({ cert, key }: RawServeOptions): Promise<Pick<ServeOptions, "tls">> {
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined) throw usageError("--cert and --key belong together.");
  const read = (path: string) =>
    readFile(path, "utf8").catch((cause) => {
      throw new CommandError(`${safeLine(path)} cannot be read.`, { cause });
    });
  return { tls: { cert: await read(cert), key: await read(key) } };
}

/** Shows the link that signs a browser in, and opens it where there is a screen. Returns how to clean up. */
async function announcePage(
  { app, port }: RunningServer,
  { page, role, host = "127.0.0.1", tls }: ServeOptions,
  { open }: RawServeOptions,
  console: Console,
): Promise<() => Promise<void>> {
  const made = page === undefined || role === "worker" ? undefined : await app.newSignInCode?.();
  if (made === undefined) return async () => {};
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const name = isEverywhere ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  const url = `${tls ? "https" : "http"}://${name}:${port}`;
  const link = `${url}/#code=${made.code}`;
  console.line(`Open ${link}`);
  const another = url === USUAL_URL ? "deepwright sign-in" : `deepwright sign-in --url ${url}`;
  console.line(`The link works once, for five minutes. For another: ${another}`);
  const { hasScreen, openBrowser } = await import("./open-browser.ts");
  if (open === false || !hasScreen(process, process.env)) return async () => {};
  return openBrowser(link, homeOf(process.env), process.env);
}

/** The second one ends the process. */
function firstSignal(): Promise<"SIGINT" | "SIGTERM"> {
  return new Promise((done) => {
    let isStopping = false;
    const handle = (signal: "SIGINT" | "SIGTERM"): void => {
      if (isStopping) process.exit(signal === "SIGINT" ? EXIT.interrupted : EXIT.terminated);
      isStopping = true;
      done(signal);
    };
    process.on("SIGINT", () => handle("SIGINT"));
    process.on("SIGTERM", () => handle("SIGTERM"));
  });
}

/** Unfinished work ends with the process; the next start continues it. */
async function settledWithin(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((done) => {
    timer = setTimeout(done, milliseconds);
  });
  await Promise.race([work, patience]).finally(() => clearTimeout(timer));
}
