/** Opens MCP servers for agents. The caller closes them. */
import { checkNames } from "deepwright/check-options";
import { visibleLine, warnOnConsole } from "deepwright/console-line";
import { checkDurations } from "deepwright/duration";
import { ConfigurationError } from "deepwright/errors";
import type { Mcp, OpenMcpOptions } from "./mcp-types.ts";
import type { OnNotice } from "./notices.ts";
import { type KnownServer, knownServers, trustOf } from "./servers/known-servers.ts";
import { variablesIn } from "./servers/variables.ts";
import { changeWords } from "./trust/named-files.ts";
import { definitionHash } from "./trust/trust-store.ts";

const OPTIONS: Readonly<Record<keyof OpenMcpOptions, true>> = {
  servers: true,
  project: true,
  home: true,
  trust: true,
  trustTool: true,
  toolTokens: true,
  startTimeout: true,
  environment: true,
  onNotice: true,
  signal: true,
};

/** Servers that cannot be started are left out, reported, and tried again. An error in a definition throws. */
export async function openMcp(options: OpenMcpOptions): Promise<Mcp> {
  checkOptions(options);
  const onNotice = options.onNotice ?? ((notice) => warnOnConsole("mcp", notice));
  const known = await knownServers(options, onNotice);
  options.signal?.throwIfAborted();
  const untrusted = await refusedOf(known, options, onNotice);
  // Programs that only read definitions do not load the code that runs servers.
  const { openServers } = await import("./opened-servers.ts");
  return openServers({ known, untrusted, options, onNotice });
}

/** One question at a time. */
async function refusedOf(
  known: readonly KnownServer[],
  { trust, home }: OpenMcpOptions,
  onNotice: OnNotice,
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  for (const { name, definition, directory, origin, trusted, files, changed } of known) {
    if (origin !== "project" || trusted || definition.disabled) continue;
    const subject = { project: directory, name, definition, files };
    const variables = variablesIn(definition);
    const request = { ...subject, variables, changed, hash: definitionHash(subject) };
    if (trust && (await trust(request)) === true) {
      await trustOf(home)?.add(subject);
      continue;
    }
    refused.add(name);
    const why =
      changed.length > 0 ? `${changeWords(changed)} since it was agreed to` : "no person has agreed to it";
    const message = `The MCP server '${visibleLine(name)}' of this project is not used: ${why}.`;
    onNotice({ code: "UNTRUSTED", server: name, message });
  }
  return refused;
}

function checkOptions(options: OpenMcpOptions): void {
  checkNames("openMcp", options, Object.keys(OPTIONS));
  const { toolTokens, startTimeout } = options;
  checkDurations({ unit: "seconds", most: 86_400 }, { startTimeout });
  if (toolTokens !== undefined && !(Number.isFinite(toolTokens) && toolTokens > 0))
    throw new ConfigurationError("INVALID_OPTION", "The option 'toolTokens' must be a number above 0.");
}
