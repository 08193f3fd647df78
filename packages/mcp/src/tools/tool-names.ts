/** Names of servers' tools: never equal to a tool of ours, in characters every provider accepts. */
import { createHash } from "node:crypto";

/** Providers take letters, digits, `_` and `-`, and at most so many of them. */
const MOST = 64;
const PREFIX = "mcp__";
const DIGEST = 6;

/** `mcp__server__tool`; where that has to be changed or cut, the beginning of a hash of both names stands at its end. */
export function toolNameFor(server: string, tool: string): string {
  const plain = `${PREFIX}${server}__${tool}`;
  if (/^[A-Za-z0-9_-]+$/.test(plain) && plain.length <= MOST) return plain;
  const digest = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, DIGEST);
  const letters = plain.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, MOST - DIGEST - 1);
  return `${letters}_${digest}`;
}

/** The common prefix of names: for rules about all tools of all servers, or of one. */
export function toolPrefix(server?: string): string {
  if (server === undefined) return PREFIX;
  return `${PREFIX}${server.replace(/[^A-Za-z0-9_-]+/g, "_")}__`;
}
