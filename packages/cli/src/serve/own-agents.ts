/** The CLI's own agent in each of several directories, on one server. Each directory keeps its trust, settings and permissions. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { ServeOptions } from "@deepwright/server";
import type { Console } from "../terminal/console.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { settingsOfHost } from "./host-settings.ts";
import { type OwnAgentOptions, openOwnAgent } from "./own-agent.ts";

export interface OwnAgents {
  readonly options: Pick<ServeOptions, "agents" | "workspace" | "restoreRoots"> &
    Required<Pick<ServeOptions, "settings">>;
  close(): Promise<void>;
}

/** `directories` are real paths, at least one. They are opened one after the other: each may ask at the terminal. */
export async function openOwnAgents(
  directories: readonly string[],
  wishFor: (directory: string) => Promise<OwnAgentOptions>,
  console: Console,
): Promise<OwnAgents> {
  const opened = new Map<string, Awaited<ReturnType<typeof openOne>>>();
  const close = async (): Promise<void> => {
    await Promise.all([...opened.values()].map(({ own }) => own.close()));
  };
  try {
    for (const directory of directories) {
      const name = opened.size === 0 ? FIRST : agentNameOf(directory);
      if (directories.length > 1) console.line(`Agent ${name}, in ${safeLine(directory, 500)}:`);
      opened.set(name, await openOne(directory, await wishFor(directory), console));
    }
  } catch (error) {
    await close();
    throw error;
  }
  const options = {
    agents: Object.fromEntries([...opened].map(([name, { own }]) => [name, own.agent])),
    workspace: (_: unknown, agent: string) => opened.get(agent)?.own.files,
    restoreRoots: [...directories],
    settings: (agent: string) => opened.get(agent)?.settings,
  };
  return { options, close };
}

async function openOne(directory: string, wish: OwnAgentOptions, console: Console) {
  const own = await openOwnAgent(directory, wish, console);
  return { own, settings: await settingsOfHost(own, directory, process.env) };
}

/** The database belongs to the first directory, so its agent has the same name with and without others. */
const FIRST = "agent";

/** The hash tells directories of one name apart: threads must not go on in another directory. */
function agentNameOf(directory: string): string {
  const name = basename(directory)
    .replace(/[^A-Za-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-+|-+$/g, "");
  const hash = createHash("sha256").update(directory).digest("hex").slice(0, 8);
  return name === "" ? hash : `${name}-${hash}`;
}
