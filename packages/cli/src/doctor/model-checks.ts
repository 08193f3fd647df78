/** Checks of settings, keys, models and MCP servers. */

import { KEY_OWNERS } from "../login/key-names.ts";
import { storedKeys } from "../login/stored-keys.ts";
import { type ModelChoice, OFFLINE_ROUTINE } from "../model/choice.ts";
import { chooseModel } from "../model/choose.ts";
import { endpoints } from "../model/endpoints.ts";
import { localServers } from "../models/local-servers.ts";
import { heldLine } from "../settings/held-words.ts";
import type { LoadedSettings } from "../settings/load-settings.ts";
import { settingsWish } from "../settings/model-wish.ts";
import { homeOf } from "../state/home.ts";
import { type Check, note, ok, problem } from "./check.ts";

export function settingsCheck({ files, held }: LoadedSettings): Check {
  const there = files.filter(({ text }) => text !== undefined).map(({ path }) => path);
  const words = heldLine(held);
  if (words !== undefined)
    return note("Settings", words.replace(/ To look at it.*$/, ""), "deepwright trust");
  return ok("Settings", there.length === 0 ? "none, the defaults count" : there.join(", "));
}

export async function keysCheck(environment: NodeJS.ProcessEnv): Promise<Check> {
  const stored = new Map(await storedKeys(environment));
  const names = KEY_OWNERS.filter(({ variable }) => environment[variable]).map(({ name, variable }) =>
    stored.has(name) ? `${variable} (stored in the ${stored.get(name)})` : variable,
  );
  if (names.length > 0) return ok("Keys", names.join(", "));
  return note("Keys", "none found", "deepwright login anthropic, or start a local model server.");
}

export async function modelCheck(loaded: LoadedSettings, environment: NodeJS.ProcessEnv): Promise<Check> {
  let choice: ModelChoice;
  try {
    choice = await chooseModel({ settings: settingsWish(loaded) }, environment, endpoints);
  } catch (error) {
    const { message, hint } = error as Error & { readonly hint?: string };
    return problem("Model", message, hint ?? "Choose another: deepwright config set model PROVIDER:MODEL.");
  }
  if (choice.kind === "offline")
    return note("Model", `the offline model. ${OFFLINE_ROUTINE}`, "deepwright login, or start Ollama.");
  const name = `${choice.provider}:${choice.model} (${choice.reason})`;
  const answer = choice.kind === "provider" ? await listAnswer(choice) : undefined;
  if (answer === undefined) return ok("Model", `${name}; not called`);
  if (answer === 200) return ok("Model", `${name}; its server answers`);
  if (answer === 401 || answer === 403)
    return problem("Model", `${name}: the key is refused (${answer})`, `deepwright login ${choice.provider}`);
  return problem("Model", `${name}: ${answer}`, "Check the network and the address of the server.");
}

const PATIENCE_MS = 5_000;

/** The status of the list of models, which costs nothing; words where there is no answer. */
async function listAnswer(choice: Extract<ModelChoice, { kind: "provider" }>): Promise<number | string> {
  const { provider, baseUrl, apiKey = "" } = choice;
  const [url, headers] = {
    anthropic: [
      `${baseUrl ?? "https://api.anthropic.com"}/v1/models`,
      { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
    ],
    openai: [`${baseUrl ?? "https://api.openai.com/v1"}/models`, { authorization: `Bearer ${apiKey}` }],
    google: [
      `${baseUrl ?? "https://generativelanguage.googleapis.com"}/v1beta/models`,
      { "x-goog-api-key": apiKey },
    ],
    ollama: [`${baseUrl}/api/tags`, {}],
  }[provider] as [string, Record<string, string>];
  try {
    const response = await fetch(url, {
      headers,
      redirect: "error",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    return `its server does not answer (${(error as Error).message})`;
  }
}

export async function localCheck(environment: NodeJS.ProcessEnv): Promise<Check> {
  const found = (await localServers(environment)).filter(({ models }) => models !== undefined);
  const words = found.map(({ title, models = [] }) => `${title} (${models.length} models)`).join(", ");
  return ok("Local servers", words || "none answers");
}

/** Servers that a person agreed to are started for a moment. */
export async function mcpCheck(directory: string, servers: Record<string, unknown> = {}): Promise<Check> {
  const { knownServers, openMcp } = await import("@deepwright/mcp");
  const sources = { project: directory, home: homeOf(process.env), servers };
  try {
    const known = (await knownServers(sources)).filter(({ definition }) => !definition.disabled);
    if (known.length === 0) return ok("MCP servers", "none");
    const mcp = await openMcp({ ...sources, trust: () => false, onNotice: () => {} });
    const broken = mcp.servers.filter(({ problem: why }) => why !== undefined);
    const untrusted = mcp.servers.filter(({ state }) => state === "untrusted").map(({ name }) => name);
    const working = mcp.servers.length - broken.length;
    await mcp.close();
    if (untrusted.length > 0)
      return note("MCP servers", `not agreed to: ${untrusted.join(", ")}`, "deepwright mcp trust");
    if (broken.length === 0) return ok("MCP servers", `${working} of ${known.length} ready`);
    const words = broken.map(({ name, problem: why }) => `${name}: ${why}`).join("; ");
    return problem(
      "MCP servers",
      words,
      "Correct the definition in .mcp.json or mcp.json: deepwright mcp list.",
    );
  } catch (error) {
    return problem("MCP servers", (error as Error).message, "Correct the file it names.");
  }
}
