import { connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface SlowProxy {
  readonly url: string;
  /** Milliseconds every answer takes longer, from now on. */
  delayMs: number;
  close(): void;
}

/** A way to a Postgres that is far away, when it is told to be. */
export async function slowProxy(url: string): Promise<SlowProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let before: Promise<unknown> = Promise.resolve();
    client.pipe(upstream);
    upstream.on("data", (chunk) => {
      const due = sleep(proxy.delayMs, undefined, { ref: false });
      before = Promise.all([before, due]).then(() => client.writable && client.write(chunk));
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = new URL(url);
  address.port = String((server.address() as { port: number }).port);
  const proxy: SlowProxy = {
    url: address.href,
    delayMs: 0,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  return proxy;
}
