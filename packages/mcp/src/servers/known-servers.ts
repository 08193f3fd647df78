/** Finds servers: of the caller, of the user's own file and of the project's file. */
import { readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { visibleLine } from "deepwright/console-line";
import { ConfigurationError } from "deepwright/errors";
import type { OnNotice } from "../notices.ts";
import { type FileChange, type NamedFile, namedFiles } from "../trust/named-files.ts";
import { openTrustStore, type TrustStore } from "../trust/trust-store.ts";
import { type McpServerDefinition, readConfig, readDefinitions } from "./definition.ts";

/** The source of a definition: `caller` and `user` are trusted; a person is asked about servers of a `project`. */
export type ServerOrigin = "caller" | "user" | "project";

export interface KnownServer {
  readonly name: string;
  readonly origin: ServerOrigin;
  readonly definition: McpServerDefinition;
  /** Where relative paths of the definition begin. */
  readonly directory: string;
  /** For a project's server: whether a person has agreed to exactly this definition and the files it names. */
  readonly trusted: boolean;
  /** Files of the project that the definition names. */
  readonly files: readonly NamedFile[];
  /** Files that changed since a person agreed to this definition; such a server is not trusted. */
  readonly changed: readonly FileChange[];
}

export interface ServerSources {
  /** By name, as in a config file. */
  readonly servers?: Readonly<Record<string, unknown>>;
  /** The directory whose `.mcp.json` is read. Absent: none. */
  readonly project?: string;
  /**
   * The directory whose `mcp.json` is read, and where agreements are stored; the command line's is `~/.deepwright`.
   * Absent: none.
   */
  readonly home?: string;
}

export const PROJECT_FILE = ".mcp.json";
export const USER_FILE = "mcp.json";
const TRUST_FILE = "mcp-trust.json";

/**
 * Sorted by name. Of one name the caller's counts before the user's, and that before the project's: a project cannot
 * take the place of a server the user knows. Nothing is started, and no variable read.
 */
export async function knownServers(
  { servers, project, home }: ServerSources,
  onNotice: OnNotice = () => {},
): Promise<readonly KnownServer[]> {
  const found = new Map<string, KnownServer>();
  const add = (known: KnownServer): void => {
    const before = found.get(known.name);
    if (before === undefined) found.set(known.name, known);
    else if (known.origin === "project" && !before.definition.disabled)
      onNotice({
        code: "SHADOWED",
        server: known.name,
        message: `The server '${visibleLine(known.name)}' of ${PROJECT_FILE} is left out: one of your own has its name.`,
      });
  };
  const root = project === undefined ? undefined : await realpath(project);
  const own = async (definition: McpServerDefinition, directory: string) => ({
    definition,
    directory,
    trusted: true,
    files: root === undefined ? [] : await namedFiles({ definition, directory }, root),
    changed: [],
  });
  for (const [name, definition] of Object.entries(readDefinitions(servers ?? {}, "the option 'servers'")))
    add({ name, origin: "caller", ...(await own(definition, project ?? process.cwd())) });
  for (const [name, definition] of Object.entries(home === undefined ? {} : await inFile(home, USER_FILE)))
    add({ name, origin: "user", ...(await own(definition, home as string)) });
  if (root !== undefined) {
    const store = trustOf(home);
    for (const [name, definition] of Object.entries(await inFile(root, PROJECT_FILE))) {
      const files = await namedFiles({ definition, directory: root }, root);
      const changed = await store?.changedFiles({ project: root, name, definition, files });
      const trusted = changed?.length === 0;
      add({ name, origin: "project", definition, directory: root, trusted, files, changed: changed ?? [] });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Files of the project that steer a server which was agreed to, relative to the project. An agent must not change them
 * unasked: for `controlPaths` of its backend and its sandbox.
 */
export function controlPathsOf(known: readonly KnownServer[]): readonly string[] {
  const agreed = known.filter(({ trusted, changed }) => trusted || changed.length > 0);
  const paths = agreed.flatMap(({ files }) => files.flatMap(({ path, real = path }) => [path, real]));
  return [...new Set(paths)].sort();
}

/** Undefined where nothing is kept between runs. */
export function trustOf(home: string | undefined): TrustStore | undefined {
  return home === undefined ? undefined : openTrustStore(join(home, TRUST_FILE));
}

const MOST_BYTES = 1024 * 1024;

async function inFile(directory: string, name: string): Promise<Record<string, McpServerDefinition>> {
  const path = join(directory, name);
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (facts === undefined) return {};
  if (!facts.isFile() || facts.size > MOST_BYTES)
    throw new ConfigurationError("INVALID_OPTION", `MCP: ${path} is not a file of at most 1 MiB.`);
  return readConfig(await readFile(path, "utf8"), path);
}
