import { connect, createServer, type Socket } from "node:net";

export interface LossyProxy {
  readonly url: string;
  /** How many answers it has lost. */
  readonly lost: number;
  close(): void;
}

/**
 * A way to a Postgres that hands every COMMIT to the server, but hangs up before the answer gets back
 * when `loses` says so for the COMMIT of that number, counted from 1.
 */
export async function lossyProxy(url: string, loses: (commit: number) => boolean): Promise<LossyProxy> {
  const target = new URL(url);
  let commits = 0;
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    let muted = false;
    client.on("data", (chunk) => {
      upstream.write(chunk);
      if (!chunk.includes("COMMIT\0")) return;
      commits += 1;
      if (!loses(commits)) return;
      lost += 1;
      muted = true;
    });
    upstream.on("data", (chunk) => {
      if (muted) client.destroy();
      else client.write(chunk);
    });
    endTogether(client, upstream);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = new URL(url);
  address.port = String((server.address() as { port: number }).port);
  return {
    url: address.href,
    get lost() {
      return lost;
    },
    close: () => {
      server.close();
    },
  };
}

function endTogether(client: Socket, upstream: Socket): void {
  client.on("error", () => upstream.destroy());
  upstream.on("error", () => client.destroy());
  client.on("close", () => upstream.destroy());
  upstream.on("close", () => client.destroy());
}
