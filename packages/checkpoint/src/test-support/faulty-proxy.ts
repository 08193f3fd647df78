import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A way to a Postgres over a network that fails on demand. */
export interface FaultyProxy {
  readonly url: string;
  /** Milliseconds every answer takes longer, from now on. */
  delayMs: number;
  /** Connections that are open now. */
  readonly open: number;
  /** While true, connections that are made get no answer. */
  swallowsNew: boolean;
  /** Loses all further answers on the connections that are open now; nobody hears of it. */
  swallow(): void;
  /** Breaks off the connections that are open now. */
  reset(): void;
  /** Ends one direction of the connections that are open now: the one to the client, or silently the one to Postgres. */
  halfClose(towards: "client" | "postgres"): void;
  close(): void;
}

export async function faultyProxy(url: string): Promise<FaultyProxy> {
  const target = new URL(url);
  const pairs = new Set<Pair>();
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    const pair = { client, upstream, isSilent: proxy.swallowsNew };
    pairs.add(pair);
    client.on("close", () => pairs.delete(pair));
    carry(pair, () => proxy.delayMs);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = new URL(url);
  address.port = String((server.address() as { port: number }).port);
  const proxy: FaultyProxy = {
    url: address.href,
    delayMs: 0,
    swallowsNew: false,
    get open() {
      return pairs.size;
    },
    swallow: () => {
      for (const pair of pairs) pair.isSilent = true;
    },
    reset: () => {
      for (const { client } of pairs) client.resetAndDestroy();
    },
    halfClose: (towards) => {
      for (const pair of pairs) {
        if (towards === "postgres") pair.isSilent = true;
        (towards === "postgres" ? pair.upstream : pair.client).end();
      }
    },
    close: () => {
      server.close();
      for (const { client } of pairs) client.destroy();
    },
  };
  return proxy;
}

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Nothing that comes from Postgres is handed on, not even its end. */
  isSilent: boolean;
}

function carry(pair: Pair, delayMs: () => number): void {
  const { client, upstream } = pair;
  let before: Promise<unknown> = Promise.resolve();
  client.on("data", (chunk) => upstream.writable && upstream.write(chunk));
  upstream.on("data", (chunk) => {
    const due = sleep(delayMs(), undefined, { ref: false });
    before = Promise.all([before, due]).then(() => !pair.isSilent && client.writable && client.write(chunk));
  });
  client.on("end", () => upstream.end());
  client.on("error", () => upstream.destroy());
  client.on("close", () => upstream.destroy());
  upstream.on("end", () => void before.then(() => !pair.isSilent && client.end()));
  upstream.on("error", () => !pair.isSilent && client.destroy());
  upstream.on("close", () => void before.then(() => !pair.isSilent && client.destroy()));
}
