/** A name that leads to an address of this machine, and is not one that is refused by its spelling. */
import { lookup } from "node:dns/promises";
import { hostname } from "node:os";

const NAMES = [hostname(), "ip6-localhost", "ip6-loopback", "localhost.localdomain"];

/** Fails where there is none: a name that leads nowhere would be no test. */
export async function privateName(): Promise<string> {
  for (const name of NAMES) {
    const found = await lookup(name, { all: true }).catch(() => []);
    if (found.length > 0 && !/(?:^|\.)localhost$/.test(name)) return name;
  }
  throw new Error(`None of ${NAMES.join(", ")} leads to this machine: add one to its hosts file.`);
}
