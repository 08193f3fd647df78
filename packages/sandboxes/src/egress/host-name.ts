/** The one spelling of a host name, and which texts are none. */
import { domainToASCII } from "node:url";

/** Where a connection is to go: a canonical host name, and a port. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Either the value or the reason, one sentence part: `"… ${refusal}"`. */
export type HostResult<T> =
  | { readonly value: T; readonly refusal?: undefined }
  | { readonly refusal: string; readonly value?: undefined };

const FORBIDDEN_IN_HOST = /[\s\p{Cc}%@/\\?#[\]:*"'<>^`{|}~!$&()+,;=]/u;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * A name in lower case, in its ASCII form and without a dot at the end.
 *
 * An address is no name, however it is spelled: a text that ends in a number would be read as one by some program.
 */
export function canonicalHost(text: string): HostResult<string> {
  if (text === "") return { refusal: "has no host name" };
  if (text.startsWith("[") || text.includes("::"))
    return { refusal: "is an address; hosts are reached by name" };
  if (FORBIDDEN_IN_HOST.test(text)) return { refusal: "has characters that are in no host name" };
  const ascii = domainToASCII(text.endsWith(".") ? text.slice(0, -1) : text);
  const labels = ascii.split(".");
  if (NUMBER.test(labels.at(-1)!)) return { refusal: "is an address; hosts are reached by name" };
  if (ascii.length > 253 || !labels.every((label) => LABEL.test(label)))
    return { refusal: "is not a host name" };
  return { value: ascii };
}

/** `host:port` as it stands in a request; without a port it is `defaultPort`, or refused when there is none. */
export function parseAuthority(text: string, defaultPort?: number): HostResult<Target> {
  const [, name, digits] = /^(.*?)(?::([^:\]]*))?$/s.exec(text)!;
  const host = canonicalHost(utf8(name!));
  if (host.refusal !== undefined) return host;
  const port = digits === undefined ? defaultPort : parsePort(digits);
  return port === undefined ? { refusal: "has no valid port" } : { value: { host: host.value, port } };
}

/** 1 to 65535 in plain digits; anything else is no port. */
export function parsePort(text: string): number | undefined {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= 65_535 ? port : undefined;
}

/** Any text from a sandbox so that it does no harm in a log or in a status line. */
export function printable(text: string): string {
  const plain = text.replace(/[^\x21-\x7e]/g, "?");
  return plain.length > 120 ? `${plain.slice(0, 120)}...` : plain;
}

/** The parser of requests hands out a byte per character; names may be UTF-8. */
function utf8(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, "latin1").toString("utf8");
}
