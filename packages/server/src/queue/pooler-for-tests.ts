/** A PgBouncer in transaction mode before a Postgres: whoever connects has another session in each transaction. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { until } from "../../../../scripts/test-time.ts";

export interface Pooler {
  readonly url: string;
  close(): Promise<void>;
}

/** Few connections to the server, so that clients have to share them. */
const settings = (target: URL, port: number, directory: string) => `[databases]
* = host=${target.hostname} port=${target.port} user=${target.username} password=${target.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir = ${directory}
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`;

export async function startPooler(url: string): Promise<Pooler> {
  const directory = await mkdtemp(join(tmpdir(), "pooler-"));
  const port = await freePort();
  const file = join(directory, "pgbouncer.ini");
  await writeFile(file, settings(new URL(url), port, directory));
  const user = await unprivileged();
  if (user) await chown(directory, user.uid, user.gid);
  const pooler = spawn("pgbouncer", [file], {
    ...user,
    cwd: directory,
    env: { PATH: [process.env.PATH, "/usr/sbin"].join(delimiter) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  pooler.stderr.on("data", (piece) => {
    said = `${said}${piece}`.slice(-2_000);
  });
  const gone = once(pooler, "exit").catch((error) => {
    said += String(error);
  });
  const close = async () => {
    pooler.kill("SIGKILL");
    await gone;
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await until(async () => {
      if (pooler.exitCode !== null) throw new Error("It has ended.");
      return answers(port);
    });
  } catch (cause) {
    await close();
    throw new Error(`PgBouncer did not start: ${said}`, { cause });
  }
  const address = new URL(url);
  address.port = String(port);
  return { url: address.href, close };
}

/** PgBouncer refuses to run as root. */
async function unprivileged(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const lines = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const [, , uid, gid] = lines.find(([name]) => name === "nobody") ?? [];
  return { uid: Number(uid), gid: Number(gid) };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as { port: number };
  probe.close();
  await once(probe, "close");
  return port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => done(true));
    socket.once("error", () => done(false));
    socket.once("connect", () => socket.destroy());
  });
}
