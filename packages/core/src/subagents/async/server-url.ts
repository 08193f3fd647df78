/** Addresses that an async subagent may have. The developer gives them; the model never does. */
import { ConfigurationError } from "../../errors.ts";

/**
 * The base address without a slash at its end. A plainly spelled loopback address is allowed; other private addresses
 * and names only with `allowPrivate`; link-local addresses, where clouds keep credentials, never.
 */
export function checkedServerUrl(agentName: string, given: string, allowPrivate: boolean): string {
  const url = parsed(agentName, given);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw refused(agentName, `must begin with http:// or https://, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "")
    throw refused(agentName, "must not hold a name or password; use 'headers'");
  if (url.search !== "" || url.hash !== "") throw refused(agentName, "must not have a query or a fragment");
  const reach = reachOf(url.hostname);
  const isPlain = given.toLowerCase().includes(`//${url.hostname.toLowerCase()}`);
  if (reach !== "public" && isAddress(url.hostname) && !isPlain)
    throw refused(agentName, `spells the address ${url.hostname} in an unusual way`);
  if (reach === "never") throw refused(agentName, `names ${url.hostname}, which is no place for a server`);
  if (reach === "private" && !allowPrivate)
    throw refused(
      agentName,
      `names ${url.hostname}, which is in a private network; if that is meant, set allowPrivate: true`,
    );
  return url.href.replace(/\/+$/, "");
}

function parsed(agentName: string, given: string): URL {
  try {
    return new URL(given);
  } catch (cause) {
    throw refused(agentName, "is not a url", cause);
  }
}

function refused(agentName: string, problem: string, cause?: unknown): ConfigurationError {
  return new ConfigurationError(
    "INVALID_OPTION",
    `The 'url' of the async subagent '${agentName}' ${problem}.`,
    {
      cause,
    },
  );
}

export type Reach = "public" | "loopback" | "private" | "never";

/** `host` as a URL has it: numbers are in their usual spelling, an address of version 6 stands in brackets. */
export function reachOf(host: string): Reach {
  if (host.startsWith("[")) return reachOf6(host.slice(1, -1));
  if (/^[\d.]+$/.test(host)) return reachOf4(host.split(".").map(Number));
  const name = host.toLowerCase().replace(/\.$/, "");
  if (name === "localhost" || name.endsWith(".localhost")) return "loopback";
  const isInside = !name.includes(".") || /\.(local|internal|lan|home|intranet|corp)$/.test(name);
  return isInside ? "private" : "public";
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^[\d.]+$/.test(host);
}

function reachOf4([a = 0, b = 0]: readonly number[]): Reach {
  if (a === 127) return "loopback";
  if (a === 0 || a >= 224 || (a === 169 && b === 254)) return "never";
  const isPrivate =
    a === 10 ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 100 && b >= 64 && b <= 127);
  return isPrivate || (a === 198 && (b === 18 || b === 19)) ? "private" : "public";
}

function reachOf6(address: string): Reach {
  const groups = groupsOf(address);
  const [first = 0, , , , , sixth = 0, seventh = 0, last = 0] = groups;
  const leading = groups.slice(0, 5).every((group) => group === 0);
  if (leading && sixth === 0 && seventh === 0) return last === 1 ? "loopback" : "never";
  const isNat = first === 0x64 && groups[1] === 0xff9b;
  if (isNat || (leading && (sixth === 0xffff || sixth === 0)))
    return reachOf4([seventh >> 8, seventh & 255, last >> 8, last & 255]);
  if ((first & 0xffc0) === 0xfe80 || first >> 8 === 0xff) return "never";
  return first >> 9 === 0x7e ? "private" : "public";
}

/** Eight numbers of a spelling that a URL has made canonical. */
function groupsOf(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const numbers = (part: string): number[] =>
    part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16));
  const before = numbers(head);
  const after = tail === undefined ? [] : numbers(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
