/**
 * The token that this user's server keeps in a file. Where Linux says who listens at an address of this machine, the
 * token goes to no program of another user that listens in the place of the server.
 */
import { readFile } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { homeOf } from "../state/home.ts";

/** Undefined: no server was started yet. */
export async function keptToken(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const { readPrivateFile } = await import("@deepwright/mcp");
  return (await readPrivateFile(join(homeOf(env), "server-token")))?.trim();
}

/** Whether another user's program, not root's, listens at an address of this machine. False where that is not known. */
export async function isOfAnotherUser(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const own = process.getuid?.();
  const hosts = hostname === "localhost" ? ["127.0.0.1", "::1"] : [hostname.replace(/^\[|\]$/g, "")];
  const here = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
  if (own === undefined || !hosts.some((host) => host.startsWith("127.") || here.includes(host)))
    return false;
  const read = (name: string) => readFile(`/proc/net/${name}`, "utf8").catch(() => "");
  const tables = `${await read("tcp")}\n${await read("tcp6")}`;
  const number = Number(port || (protocol === "https:" ? 443 : 80));
  return hosts.some((host) => listenersAt(tables, host, number).some((user) => user !== own && user !== 0));
}

const LISTENS = "0A";

/** Users whose programs get connections to the address: those of the address itself, else those of all addresses. */
export function listenersAt(tables: string, host: string, port: number): readonly number[] {
  const rows = tables.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , user] = line.trim().split(/\s+/);
    const [address = "", given = ""] = local.split(":");
    return state === LISTENS && Number.parseInt(given, 16) === port ? [{ address, user: Number(user) }] : [];
  });
  const exact = rows.filter(({ address }) => formsOf(host).includes(address));
  const found = exact.length > 0 ? exact : rows.filter(({ address }) => /^0+$/.test(address));
  return found.map(({ user }) => user);
}

/** As the kernel writes it: each 32 bits with the last byte first. Of IPv6 the loopback address alone is known. */
function formsOf(host: string): readonly string[] {
  if (host === "::1") return ["00000000000000000000000001000000"];
  const bytes = host.split(".").map((part) => Number(part).toString(16).padStart(2, "0").toUpperCase());
  const plain = bytes.toReversed().join("");
  return bytes.length === 4 ? [plain, `0000000000000000FFFF0000${plain}`] : [];
}
