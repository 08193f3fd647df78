/** The options of egress, checked once. */

import { validateHeaderName, validateHeaderValue } from "node:http";
import { ConfigurationError } from "deepwright";
import { checkNames } from "deepwright/check-options";
import { type AllowList, parseAllowList } from "./allow-list.ts";
import type { EgressEvent, EgressOptions, InjectedHeader } from "./egress-options.ts";
import { canonicalHost } from "./host-name.ts";

export interface EgressPolicy {
  readonly allowList: AllowList;
  /** By canonical host name. */
  readonly injected: ReadonlyMap<string, readonly InjectedHeader[]>;
  readonly onConnection: ((event: EgressEvent) => void) | undefined;
}

/** Headers that belong to a connection or decide where a request ends; they cannot be injected. */
const RESERVED =
  /^(?:host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|content-length|content-encoding|accept-encoding|upgrade|expect|via|sec-websocket-.*)$/;

const OPTIONS = ["allow", "inject", "onConnection"];

/** Throws a `ConfigurationError`, which never holds the value of a header. Does no I/O. */
export function checkEgressOptions(options: EgressOptions): EgressPolicy {
  checkNames("egress", options, OPTIONS);
  const allowList = parseAllowList(options.allow);
  const injected = new Map<string, InjectedHeader[]>();
  for (const entry of options.inject ?? []) {
    const host = checkInjected(entry, allowList);
    const others = injected.get(host) ?? [];
    if (others.some((other) => sameHeader(other.header, entry.header)))
      throw invalid(`names the header ${entry.header} twice for ${host}`);
    injected.set(host, [...others, entry]);
  }
  return { allowList, injected, onConnection: options.onConnection };
}

/** Checked egress options; undefined when nothing is allowed. Throws as `checkEgressOptions` does. */
export function checkedEgress(options: EgressOptions | null | undefined): EgressOptions | undefined {
  if (options === null || options === undefined) return undefined;
  checkEgressOptions(options);
  return (options.allow ?? []).length === 0 ? undefined : options;
}

/** Some servers take `_` for `-` in names of headers. */
export function sameHeader(left: string, right: string): boolean {
  return left.toLowerCase().replaceAll("_", "-") === right.toLowerCase().replaceAll("_", "-");
}

function checkInjected(entry: InjectedHeader, allowList: AllowList): string {
  const shown = JSON.stringify(entry.host);
  const host = canonicalHost(String(entry.host));
  if (host.refusal !== undefined) throw invalid(`has a host that ${host.refusal}: ${shown}`);
  if (!allowList.names(host.value)) throw invalid(`names ${shown}, which egress.allow does not allow`);
  if (!isHeaderName(entry.header))
    throw invalid(`has a header that cannot be set: ${JSON.stringify(entry.header)}`);
  if (typeof entry.value !== "function" && !isHeaderValue(entry.value))
    throw invalid(`has a value for ${shown} that cannot be sent in a header`);
  return host.value;
}

function isHeaderName(name: string): boolean {
  try {
    validateHeaderName(name);
    return !RESERVED.test(name.toLowerCase().replaceAll("_", "-"));
  } catch {
    return false;
  }
}

export function isHeaderValue(value: unknown): value is string {
  try {
    validateHeaderValue("x", value as string);
    return typeof value === "string" && value !== "";
  } catch {
    return false;
  }
}

function invalid(what: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `egress.inject ${what}.`);
}
