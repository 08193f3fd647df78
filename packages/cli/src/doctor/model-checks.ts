/** Checks of settings, keys, models and MCP servers. */
import { modelProvider, providerUrl } from "deepwright/providers";
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
import { count } from "../terminal/amounts.ts";
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
  const request = listRequest(choice, environment);
  if (request === undefined) return ok("Model", `${name}; not called`);
  const answer = await listAnswer(request);
  if (answer === 401 || answer === 403)
    return problem("Model", `${name}: the key is refused (${answer})`, `deepwright login ${choice.provider}`);
  if (typeof answer !== "object") {
    const words = typeof answer === "number" ? `its server answers with ${answer}` : answer;
    return problem("Model", `${name}: ${words}`, "Check the network, the server and its address.");
  }
  if (!request.isWhole || answer.includes(choice.model)) return ok("Model", `${name}; its server answers`);
  return note("Model", `${name}; its server does not list this model`, "deepwright models");
}

const PATIENCE_MS = 5_000;

interface ListRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The list names every model that the server takes. */
  readonly isWhole: boolean;
}

/** Undefined: a package of the provider knows where to ask. */
function listRequest(
  choice: Exclude<ModelChoice, { kind: "offline" }>,
  environment: NodeJS.ProcessEnv,
): ListRequest | undefined {
  const { provider, baseUrl } = choice;
  const known = modelProvider(provider);
  if (choice.kind === "other" || provider === "openai") {
    const url = baseUrl ?? (known && providerUrl(known, environment)) ?? OPENAI_URLS[provider];
    const key = environment[choice.keyName ?? ""];
    const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {};
    const isWhole = baseUrl !== undefined || known?.isLocal === true;
    return url === undefined ? undefined : { url: `${url}/models`, headers, isWhole };
  }
  const { apiKey = "" } = choice;
  const [url, headers] = {
    anthropic: [
      `${baseUrl ?? "https://api.anthropic.com"}/v1/models`,
      { "x-api-key": apiKey, "anthropic-version": "2023-06-01" },
    ],
    google: [
      `${baseUrl ?? "https://generativelanguage.googleapis.com"}/v1beta/models`,
      { "x-goog-api-key": apiKey },
    ],
    ollama: [`${baseUrl}/api/tags`, {}],
  }[provider] as [string, Record<string, string>];
  return { url, headers, isWhole: false };
}

const OPENAI_URLS: Readonly<Record<string, string>> = { openai: "https://api.openai.com/v1" };

/** The ids in the list of models, which costs nothing to ask for; a status that is no success; words where there is no list. */
async function listAnswer({ url, headers }: ListRequest): Promise<readonly string[] | number | string> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const response = await fetch(url, { headers, redirect: "error", signal });
    if (!response.ok) {
      await response.body?.cancel();
      return response.status;
    }
    const { data, models = data } = (await response.json()) as Record<string, unknown>;
    if (!Array.isArray(models)) return NO_LIST;
    return models.map((model: { id?: unknown; name?: unknown }) => String(model?.id ?? model?.name));
  } catch (error) {
    if (error instanceof SyntaxError) return NO_LIST;
    return `its server does not answer (${(error as Error).message})`;
  }
}

const NO_LIST = "its server answers, but not with a list of models";

export async function localCheck(environment: NodeJS.ProcessEnv): Promise<Check> {
  const found = (await localServers(environment)).filter(({ models }) => models !== undefined);
  const words = found
    .map(({ title, models = [] }) => `${title} (${count(models.length, "model")})`)
    .join(", ");
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
