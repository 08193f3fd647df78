/** Names to addresses, as this machine resolves them. */
import { lookup as systemLookup } from "node:dns/promises";

export type Lookup = (host: string) => Promise<readonly string[]>;

/** Names of one sandbox that are resolved at a time: the threads that do it also read files for this process. */
const MAX_RUNNING = 2;
const MAX_WAITING = 256;

/** All addresses. Callers that ask for a name while it is resolved share the answer; nothing is remembered after it. */
export function createLookup(): Lookup {
  const pending = new Map<string, Promise<readonly string[]>>();
  const waiting: (() => void)[] = [];
  let running = 0;
  const resolve = async (host: string) => {
    if (running >= MAX_RUNNING) {
      if (waiting.length >= MAX_WAITING) throw Object.assign(new Error("too many names"), { code: "EAGAIN" });
      await new Promise<void>((go) => waiting.push(go));
    } else running++;
    try {
      return (await systemLookup(host, { all: true })).map(({ address }) => address);
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
  return (host) => {
    const known = pending.get(host) ?? resolve(host).finally(() => pending.delete(host));
    pending.set(host, known);
    return known;
  };
}
