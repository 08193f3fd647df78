// Programs of the system that the tests use for real: found, or installed where that can be done without asking.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** Program → the Debian package that brings it. */
const NEEDED = {
  bwrap: "bubblewrap",
  podman: "podman",
  runc: "runc",
  busybox: "busybox-static",
  chromium: "chromium",
  curl: "curl",
  git: "git",
  ip: "iproute2",
  jq: "jq",
  openssl: "openssl",
  pgbouncer: "pgbouncer",
  pgrep: "procps",
  python3: "python3",
  "systemd-analyze": "systemd",
  tmux: "tmux",
};

/** Throws with the names of the packages that are missing and could not be installed. */
export function ensureSystemPrograms(log = console.log) {
  if (process.platform !== "linux") return;
  const packages = missing();
  if (packages.length === 0) return;
  log(`Installing ${packages.join(", ")}`);
  const tried = install(packages);
  const left = missing();
  if (left.length > 0)
    throw new Error(
      `The tests need ${left.join(", ")}. Install them: apt-get install ${left.join(" ")}\n${tried}`,
    );
}

function missing() {
  return Object.entries(NEEDED)
    .filter(([program]) => !isOnPath(program))
    .map(([, name]) => name);
}

function isOnPath(program) {
  const directories = [
    ...(process.env.PATH ?? "").split(delimiter),
    "/usr/bin",
    "/usr/sbin",
    "/bin",
    "/sbin",
  ];
  return directories.some((directory) => directory.startsWith("/") && isExecutable(join(directory, program)));
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What went wrong, for the message. */
function install(packages) {
  const asRoot = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const attempts = [
    ["apt-get", "install", "-y", "-q", "--no-install-recommends", ...packages],
    ["apt-get", "update", "-q"],
    ["apt-get", "install", "-y", "-q", "--no-install-recommends", ...packages],
  ];
  let output = "";
  for (const [index, attempt] of attempts.entries()) {
    const [program, ...args] = [...asRoot, ...attempt];
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", env });
    if (status === 0 && index !== 1) return "";
    output = error?.message ?? `${stdout}\n${stderr}`.trim().split("\n").slice(-5).join("\n");
  }
  return output;
}
