/** Reads a config file for `deepwright serve`. */

import { readFile, stat } from "node:fs/promises";
import { basename, dirname, extname, resolve } from "node:path";
import type { AgentSource, ServeOptions } from "@deepwright/server";
import { isRecord } from "deepwright/check-options";
import { usageError } from "../command-error.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { importProgram } from "./import-program.ts";

export interface ServedConfig {
  readonly options: ServeOptions;
  /** Settings in the file that are not used. */
  readonly warnings: readonly string[];
}

const FOUND = ["deepwright.config.ts", "deepwright.config.js", "deepwright.config.mjs", "langgraph.json"];

/** The name of the first that is in `directory`; nothing of it is read. */
export async function findConfig(directory: string): Promise<string | undefined> {
  for (const name of FOUND) if (await isFile(resolve(directory, name))) return name;
  return undefined;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() ?? false;
}

/** Runs the programs the file is or names: the caller knows that the person wants it. */
export async function loadConfig(path: string): Promise<ServedConfig> {
  if (!(await isFile(path))) throw usageError(`There is no file '${safeLine(path)}' to serve.`);
  const kind = extname(path);
  const isProgram = /^\.[cm]?[jt]s$/.test(kind);
  if (!isProgram && kind !== ".json")
    throw usageError(
      `'${safeLine(basename(path))}' cannot be served.`,
      "Give a deepwright.config.ts, .js or .mjs, or a langgraph.json.",
    );
  const loaded = isProgram ? { options: await optionsOf(path), warnings: [] } : await graphsOf(path);
  if (Object.keys(loaded.options.agents).length === 0)
    throw usageError(`There are no agents in ${safeLine(basename(path))}.`);
  return loaded;
}

/** All that a file may say, so that a slip in a name is not silently without effect. */
const KNOWN: Readonly<Record<keyof ServeOptions, true>> = {
  agents: true,
  loadAgents: true,
  authenticate: true,
  token: true,
  allowedHosts: true,
  allowedOrigins: true,
  engineCommands: true,
  restoreRoots: true,
  limits: true,
  heartbeatMs: true,
  stallMs: true,
  openHealth: true,
  openMetrics: true,
  page: true,
  workspace: true,
  settings: true,
  approvals: true,
  tls: true,
  mcp: true,
  role: true,
  runs: true,
  drainMs: true,
  onError: true,
  database: true,
  databaseTimeout: true,
  records: true,
  saver: true,
  store: true,
  port: true,
  host: true,
  tokenFile: true,
};

async function optionsOf(path: string): Promise<ServeOptions> {
  const name = safeLine(basename(path));
  const { default: given } = await importProgram(path);
  if (!isRecord(given) || !isRecord(given.agents))
    throw usageError(`${name} has no agents.`, "Its default export must be { agents: { name: agent } }.");
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(KNOWN, key));
  if (unknown.length > 0)
    throw usageError(
      `${name} has options that are not known: ${safeLine(unknown.join(", "), 200)}.`,
      `The options are ${Object.keys(KNOWN).join(", ")}.`,
    );
  for (const [agent, source] of Object.entries(given.agents)) checkSource(source, agent, name);
  return given as unknown as ServeOptions;
}

function checkSource(source: unknown, agent: string, file: string): asserts source is AgentSource {
  if ((typeof source === "object" && source !== null) || typeof source === "function") return;
  throw usageError(`The agent '${safeLine(agent, 100)}' of ${file} is not an agent or a function.`);
}

/** Keys of a langgraph.json for image builds and other runtimes. */
const FOR_OTHERS: ReadonlySet<string> = new Set([
  "$schema",
  "graphs",
  "env",
  "dependencies",
  "node_version",
  "python_version",
  "dockerfile_lines",
  "image_distro",
  "base_image",
  "api_version",
  "pip_config_file",
]);

async function graphsOf(path: string): Promise<ServedConfig> {
  const name = safeLine(basename(path));
  const config = parsed(await readFile(path, "utf8"), name);
  if (!isRecord(config) || !isRecord(config.graphs))
    throw usageError(`${name} has no graphs.`, 'It needs { "graphs": { "name": "./file.ts:export" } }.');
  await loadEnvironment(config.env, path);
  const agents = new Map<string, AgentSource>();
  for (const [graph, given] of Object.entries(config.graphs)) {
    const place = isRecord(given) ? given.path : given;
    const [, file, exported] = /^(.+):([\p{L}_$][\p{L}\p{N}_$]*)$/u.exec(String(place)) ?? [];
    if (typeof place !== "string" || file === undefined || exported === undefined)
      throw usageError(
        `The graph '${safeLine(graph, 100)}' of ${name} is not a file and an export.`,
        "Write it as ./file.ts:export.",
      );
    const source = (await importProgram(resolve(dirname(path), file)))[exported];
    if (source === undefined)
      throw usageError(`${safeLine(file)} has no export '${exported}', which ${name} names.`);
    checkSource(source, graph, name);
    agents.set(graph, source);
  }
  const ignored = Object.keys(config).filter((key) => !FOR_OTHERS.has(key));
  const warnings = ignored.length > 0 ? [`Not used of ${name}: ${safeLine(ignored.join(", "), 200)}`] : [];
  return { options: { agents: Object.fromEntries(agents) }, warnings };
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usageError(`${name} is not JSON.`);
  }
}

/** A file of variables or the variables themselves; what is set already counts. */
async function loadEnvironment(env: unknown, path: string): Promise<void> {
  if (typeof env === "string") {
    const file = resolve(dirname(path), env);
    if (!(await isFile(file))) throw usageError(`There is no file '${safeLine(env)}' for env.`);
    process.loadEnvFile(file);
  } else if (isRecord(env)) {
    for (const [name, value] of Object.entries(env)) process.env[name] ??= String(value);
  }
}
