// The image the Dockerfile begins with, where no registry can be reached: Debian by debootstrap, and this machine's Node.
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** `run(program, args)` throws when the program fails. Needs root, and Debian's packages. */
export function makeBaseImage({ name, scratch, engine, run }) {
  if (!existsSync("/usr/sbin/debootstrap"))
    throw new Error(
      `${name} cannot be pulled, and debootstrap is not there to make it: apt-get install debootstrap`,
    );
  const root = join(scratch, "root");
  run("/usr/sbin/debootstrap", ["--variant=minbase", "--include=ca-certificates", "bookworm", root]);
  addSources(root);
  addNode(root);
  const archive = join(scratch, "base.tar");
  run("tar", ["-C", root, "-cf", archive, "."]);
  run(engine, ["import", archive, name]);
  rmSync(root, { recursive: true, force: true });
  rmSync(archive);
}

/** Packages come from where this machine gets them. */
function addSources(root) {
  for (const path of [
    "/etc/apt/sources.list",
    "/etc/apt/sources.list.d",
    "/etc/apt/apt.conf.d",
    CERTIFICATES,
  ])
    if (existsSync(path)) cpSync(path, join(root, path), { recursive: true, dereference: true });
  if (!existsSync("/etc/apt/sources.list")) rmSync(join(root, "etc/apt/sources.list"));
  mkdirSync(join(root, "usr/etc"), { recursive: true });
  writeFileSync(join(root, "usr/etc/npmrc"), `cafile=${CERTIFICATES}\n`);
}

function addNode(root) {
  const npm = join(dirname(process.execPath), "../lib/node_modules/npm");
  cpSync(process.execPath, join(root, "usr/bin/node"));
  cpSync(npm, join(root, "usr/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr/bin/npm"));
}
