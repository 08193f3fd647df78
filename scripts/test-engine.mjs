// A real container engine for tests: Podman with storage of its own, and a small image made of what is on this machine.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { cp } from "node:fs/promises";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const START_TIMEOUT = 30_000;
/** Seconds without a request after which the service ends, whoever has forgotten it. */
const IDLE_LIMIT = 7200;
/** With busybox alone, and with bash beside it. */
export const PLAIN_IMAGE = "localhost/deepwright-test:plain";
export const BASH_IMAGE = "localhost/deepwright-test:bash";

/** Starts a service on a socket of its own. It ends with this process, however that ends. */
export async function startEngine() {
  const directory = mkdtempSync(join(tmpdir(), "dw-engine-"));
  const engine = new TestEngine(directory);
  try {
    await engine.importImages();
    await engine.start();
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return engine;
}

class TestEngine {
  #directory;
  #watchdog;
  #service;

  constructor(directory) {
    this.#directory = directory;
    writeFileSync(this.#at("containers.conf"), configuration());
    this.#watchdog = startWatchdog(directory, this.args, this.env);
  }

  /** What a test needs to know, also to start a service on the same containers itself. */
  get facts() {
    const { args, env, socketPath } = this;
    return { args, env, socketPath, plainImage: PLAIN_IMAGE, bashImage: BASH_IMAGE };
  }

  get socketPath() {
    return this.#at("engine.sock");
  }

  get args() {
    return [
      ...["--root", this.#at("root"), "--runroot", this.#at("run"), "--tmpdir", this.#at("tmp")],
      ...["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--runtime", "runc"],
      ...["--events-backend", "none", "--network-config-dir", this.#at("networks")],
    ];
  }

  get env() {
    return { PATH: `${process.env.PATH}:/usr/sbin:/sbin`, CONTAINERS_CONF: this.#at("containers.conf") };
  }

  async importImages() {
    const tree = this.#at("image");
    await makeTree(tree);
    this.#import(tree, PLAIN_IMAGE);
    await addBash(tree);
    this.#import(tree, BASH_IMAGE);
    rmSync(tree, { recursive: true, force: true });
  }

  async start() {
    this.#service = spawn(
      "podman",
      [...this.args, "system", "service", "--time", String(IDLE_LIMIT), `unix://${this.socketPath}`],
      // Where the engine leaves notes, as about a container that ran out of memory.
      { cwd: this.#at("."), env: this.env, stdio: ["ignore", "ignore", "pipe"] },
    );
    writeFileSync(this.#at("service"), String(this.#service.pid));
    let said = "";
    this.#service.stderr.on("data", (chunk) => {
      said = (said + chunk).slice(-2000);
    });
    for (const end = Date.now() + START_TIMEOUT; !(await answers(this.socketPath)); await sleep(50))
      if (Date.now() > end || this.#service.exitCode !== null)
        throw new Error(`Podman did not start:\n${said}`);
  }

  /** Ends the service and every container, and removes all files. Safe twice. */
  async stop() {
    if (this.#service?.exitCode === null) {
      const gone = once(this.#service, "exit");
      this.#service.kill("SIGKILL");
      await gone;
    }
    if (this.#watchdog.exitCode !== null) return;
    const done = once(this.#watchdog, "exit");
    this.#watchdog.stdin.end();
    await done;
  }

  #import(tree, name) {
    const archive = this.#at("image.tar");
    run("tar", ["-C", tree, "-cf", archive, "."]);
    run("podman", [...this.args, "import", "-q", archive, name], this.env);
    rmSync(archive);
  }

  #at(name) {
    return join(this.#directory, name);
  }
}

/** Cleans up when its input ends, which it does with the process that has started it. */
function startWatchdog(directory, args, env) {
  const script = `cat >/dev/null
directory=$1; shift
monitors=$(grep -lx conmon /proc/[0-9]*/comm | sed 's/comm$/cmdline/' | xargs grep -ls "$directory")
podman "$@" rm --force --all --time 0
service=$(cat "$directory/service") && grep -q "$directory" "/proc/$service/cmdline" && kill "$service"
echo "$monitors" | cut -d / -f 3 | xargs -r kill -KILL
for mounted in $(cut -d ' ' -f 2 /proc/mounts | grep "^$directory/" | sort -r); do umount -l "$mounted"; done
rm -rf "$directory"`;
  return spawn("sh", ["-c", script, "watchdog", directory, ...args], {
    env,
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
}

/**
 * Limits no higher than this machine's, locks that no other engine shares. What watches over a command stays after its
 * end for as long as it may, because each would start Podman once more to clean up; it is ended with the engine.
 */
function configuration() {
  const limits = readFileSync("/proc/self/limits", "utf8");
  const hard = (name) => Number(new RegExp(`^${name}\\s+\\S+\\s+(\\d+)`, "m").exec(limits)?.[1] ?? 4096);
  const files = Math.min(hard("Max open files"), 4096);
  const processes = Math.min(hard("Max processes"), 4096);
  return `[containers]
default_ulimits = ["nofile=${files}:${files}", "nproc=${processes}:${processes}"]
[engine]
lock_type = "file"
exit_command_delay = 100000
`;
}

async function makeTree(tree) {
  for (const name of ["bin", "etc", "proc", "sys", "dev", "root", "run"])
    mkdirSync(join(tree, name), { recursive: true });
  const busybox = ["/usr/bin/busybox", "/bin/busybox"].find(existsSync);
  if (busybox === undefined) throw new Error("The tests need busybox-static.");
  await cp(busybox, join(tree, "bin/busybox"));
  for (const name of run(busybox, ["--list"]).split("\n"))
    if (name !== "" && name !== "busybox") symlinkSync("busybox", join(tree, "bin", name));
  writeFileSync(join(tree, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\n");
}

/** This machine's, with the libraries it is linked to. */
async function addBash(tree) {
  const libraries = run("ldd", ["/bin/bash"]).match(/\/\S+/g) ?? [];
  for (const file of ["/bin/bash", ...libraries.filter((path) => existsSync(path))]) {
    mkdirSync(join(tree, dirname(file)), { recursive: true });
    await cp(file, join(tree, file), { dereference: true });
  }
}

function run(program, args, env = process.env) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", env });
  if (status !== 0) throw new Error(`${program} ${args.at(-1)}: ${error?.message ?? stderr}`);
  return stdout;
}

function answers(socketPath) {
  return new Promise((resolve) => {
    const socket = createConnection(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
