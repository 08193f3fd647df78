/** Checks async subagents, and finds the transport that runs their tasks. */
import { checkNames } from "../../check-options.ts";
import { ConfigurationError } from "../../errors.ts";
import type { A2aSubAgent, AsyncSubAgent, BackgroundSubAgent } from "../spec.ts";
import { a2aTransport } from "./a2a/a2a-transport.ts";
import type { GraphSources } from "./graphs.ts";
import { localTransport } from "./local-transport.ts";
import { serverTransport } from "./server-transport.ts";
import { checkedServerUrl } from "./server-url.ts";
import type { AsyncTransport } from "./transport.ts";

const KEYS = ["name", "description", "graphId", "url", "headers", "allowPrivate", "callback"];
const A2A_KEYS = ["name", "description", "a2a", "headers", "allowPrivate"];

/** Its name and description are checked already. */
export function transportFor(subAgent: BackgroundSubAgent, graphs: GraphSources): AsyncTransport {
  return "a2a" in subAgent ? transportToAgent(subAgent) : transportToGraph(subAgent, graphs);
}

function transportToAgent(subAgent: A2aSubAgent): AsyncTransport {
  const { name, a2a, headers, allowPrivate } = subAgent;
  checkNames(`The async subagent '${name}'`, subAgent, A2A_KEYS);
  checkFlags(name, { allowPrivate });
  if (typeof a2a !== "string") throw invalid(name, "'a2a' must be the address of an agent");
  return a2aTransport({
    url: checkedServerUrl(name, a2a, allowPrivate === true),
    headers: checkedHeaders(name, headers ?? {}),
  });
}

function transportToGraph(subAgent: AsyncSubAgent, graphs: GraphSources): AsyncTransport {
  const { name, graphId, url, headers, allowPrivate, callback } = subAgent;
  checkNames(`The async subagent '${name}'`, subAgent, KEYS);
  if (typeof graphId !== "string" || graphId.trim() === "") throw invalid(name, "needs a 'graphId'");
  checkFlags(name, { allowPrivate, callback });
  if (url == null) {
    if (headers != null) throw invalid(name, "has 'headers', which are for a server, and no 'url'");
    return localTransport(name, graphId, graphs);
  }
  if (typeof url !== "string") throw invalid(name, "'url' must be text");
  return serverTransport({
    graphId,
    url: checkedServerUrl(name, url, allowPrivate === true),
    headers: checkedHeaders(name, headers ?? {}),
    tellsItself: callback === true,
  });
}

function checkFlags(name: string, flags: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries(flags))
    if (value != null && typeof value !== "boolean") throw invalid(name, `'${key}' must be true or false`);
}

export function checkedHeaders(name: string, headers: unknown): Readonly<Record<string, string>> {
  const isRecord = typeof headers === "object" && headers !== null && !Array.isArray(headers);
  if (!isRecord || !Object.values(headers).every((value) => typeof value === "string"))
    throw invalid(name, "'headers' must be an object of texts");
  try {
    new Headers(headers as Record<string, string>);
  } catch {
    // The error would show the value, which may be a key.
    throw invalid(name, "'headers' has a name or a value that no request can carry");
  }
  return { ...headers } as Record<string, string>;
}

function invalid(name: string, problem: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `The async subagent '${name}': ${problem}.`, {
    hint: "An async subagent is {name, description, graphId, url?, headers?} or {name, description, a2a, headers?}.",
  });
}
