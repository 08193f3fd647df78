/** Reads a list of names and ports, and decides which hosts it allows. */
import { ConfigurationError } from "deepwright";
import { canonicalHost, parsePort } from "./host-name.ts";

export interface AllowList {
  /** `host` is canonical. */
  allows(host: string, port: number): boolean;
  /** Whether it is allowed on some port. */
  names(host: string): boolean;
}

interface Entry {
  readonly name: string;
  readonly below: boolean;
  readonly ports: readonly number[];
}

const DEFAULT_PORTS = [80, 443];

/** Throws a `ConfigurationError` for an entry that is not a host name. */
export function parseAllowList(allow: readonly string[] = []): AllowList {
  if (!Array.isArray(allow)) throw invalid("must be a list of host names", allow);
  const entries = allow.map(parseEntry);
  const named = (host: string) => entries.filter((entry) => covers(entry, host));
  return {
    allows: (host, port) => named(host).some((entry) => entry.ports.includes(port)),
    names: (host) => named(host).length > 0,
  };
}

function covers(entry: Entry, host: string): boolean {
  return entry.below ? host.endsWith(`.${entry.name}`) : host === entry.name;
}

function parseEntry(text: string): Entry {
  if (typeof text !== "string") throw invalid("has an entry that is not text", text);
  const below = text.startsWith("*.");
  const [, rest, digits] = /^(.*?)(?::([^:]*))?$/s.exec(below ? text.slice(2) : text)!;
  if (rest === "" || rest === "*") throw invalid("allows every host", text);
  const host = canonicalHost(rest!);
  if (host.refusal !== undefined) throw invalid(`has an entry that ${host.refusal}`, text);
  if (below && !host.value.includes(".")) throw invalid("has a pattern for a whole top-level domain", text);
  if (host.value === "localhost" || host.value.endsWith(".localhost"))
    throw invalid("names this machine, which no sandbox reaches", text);
  const port = digits === undefined ? undefined : parsePort(digits);
  if (digits !== undefined && port === undefined) throw invalid("has an entry with an invalid port", text);
  return { name: host.value, below, ports: port === undefined ? DEFAULT_PORTS : [port] };
}

function invalid(what: string, entry: unknown): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `egress.allow ${what}: ${JSON.stringify(entry)}.`, {
    hint: 'Use names such as "api.example.com", "*.example.com" or "example.com:8443"; [] allows nothing.',
  });
}
