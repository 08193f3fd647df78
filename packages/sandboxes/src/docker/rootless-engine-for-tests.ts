/**
 * Podman as a user without rights runs it, with its socket: `podman system service` in namespaces of that user.
 *
 * Podman makes these namespaces itself where `newuidmap` and entries in `/etc/subuid` give the user further users. Here the
 * tests are root and give them, so that neither is needed.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../../../../scripts/test-time.ts";
import type { TestEngine } from "./engine-for-tests.ts";

export interface RootlessEngine {
  readonly socketPath: string;
  readonly image: string;
  /** Id of the user it runs as. */
  readonly uid: number;
  stop(): Promise<void>;
}

const UID = 1234;
const NAME = "builder";
/** The user is root there, and has more users besides. */
const USERS = `0 ${UID} 1\n1 100000 65536\n`;

/** Processes in the namespace of the service end with its input, and so with the process that started it. */
const SCRIPT = `
echo ready
read -r mapped
for file in subuid subgid passwd group; do mount --bind "$PWD/$file" "/etc/$file" || exit; done
exec unshare --pid --fork --kill-child --mount-proc sh -c '
  podman "$@" load --quiet --input image.tar >&2 || exit
  podman "$@" system service --time 3600 "unix://$PWD/engine.sock" &
  cat >/dev/null
' service "$@"
`;

/** With the plain image of the engine that is given. */
export async function startRootless(engine: TestEngine): Promise<RootlessEngine> {
  const directory = mkdtempSync(join(tmpdir(), "dw-rootless-"));
  prepare(directory, engine);
  const user = ["--reuid", String(UID), "--regid", String(UID), "--clear-groups"];
  const service = spawn(
    "setpriv",
    [...user, "unshare", "--user", "--mount", "sh", "-c", SCRIPT, "rootless", ...storage(directory)],
    {
      cwd: directory,
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        ...engine.env,
        ...{ HOME: directory, XDG_RUNTIME_DIR: directory, USER: NAME },
        CONTAINERS_CONF: join(directory, "containers.conf"),
        // What Podman tells its own child when it is in its namespaces.
        _CONTAINERS_USERNS_CONFIGURED: "done",
        _CONTAINERS_ROOTLESS_UID: String(UID),
        _CONTAINERS_ROOTLESS_GID: String(UID),
      },
    },
  );
  let said = "";
  service.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-2000);
  });
  const ended = once(service, "exit");
  const stop = async (): Promise<void> => {
    service.stdin.end();
    await ended;
    rmSync(directory, { recursive: true, force: true });
  };
  await once(service.stdout, "data");
  for (const map of ["uid_map", "gid_map"]) writeFileSync(`/proc/${service.pid}/${map}`, USERS);
  service.stdin.write("mapped\n");
  const socketPath = join(directory, "engine.sock");
  await until(() => existsSync(socketPath) || service.exitCode !== null);
  if (!existsSync(socketPath)) {
    await stop();
    throw new Error(`Podman did not start as a user without rights:\n${said}`);
  }
  return { socketPath, image: engine.plainImage, uid: UID, stop };
}

function prepare(directory: string, { args, env, plainImage }: TestEngine): void {
  const image = join(directory, "image.tar");
  execFileSync("podman", [...args, "save", "--quiet", "--output", image, plainImage], { env });
  const files = {
    subuid: `${NAME}:100000:65536\n`,
    subgid: `${NAME}:100000:65536\n`,
    passwd: `${readFileSync("/etc/passwd", "utf8")}${NAME}:x:${UID}:${UID}::${directory}:/bin/sh\n`,
    "containers.conf": readFileSync(env.CONTAINERS_CONF as string, "utf8"),
    group: `${readFileSync("/etc/group", "utf8")}${NAME}:x:${UID}:\n`,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  chmodSync(image, 0o644);
  chownSync(directory, UID, UID);
}

function storage(directory: string): string[] {
  const at = (name: string): string => join(directory, name);
  return [
    ...["--root", at("root"), "--runroot", at("run"), "--tmpdir", at("tmp"), "--storage-driver", "vfs"],
    ...["--cgroup-manager", "cgroupfs", "--runtime", "runc", "--events-backend", "none"],
    ...["--network-config-dir", at("networks")],
  ];
}
