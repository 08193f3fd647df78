/** Whether the sandbox holds on this machine, asked of a command in it before any other is run. */
import { existsSync, readlinkSync } from "node:fs";
import { homedir } from "node:os";
import type { ExecuteResponse } from "deepwright";
import { SandboxError } from "deepwright";
import { ALTERNATIVES, SANDBOX_ID } from "./policy.ts";

const MARK = "deepwright-self-test";

/** On macOS there are no namespaces to ask about. */
const MAC_ANSWERS = ["home", "system", "root", "devices"];

/** The questions, as text of a POSIX shell; each answer is a line `name=value`. */
export function selfTestCommand(home: string = ownHome()): string {
  const quoted = `'${home.replaceAll("'", "'\\''")}'`;
  return [
    `echo mark=${MARK}`,
    "grep -E '^(Uid|CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status",
    'for kind in pid net ipc uts user; do echo "$kind=$(readlink /proc/self/ns/$kind)"; done',
    `if [ ${quoted} != / ] && [ -e ${quoted} ]; then echo home=seen; else echo home=hidden; fi`,
    writes("system", "/usr/deepwright-test"),
    writes("root", "/deepwright-test"),
    "if (: > /proc/sys/vm/swappiness) 2>/dev/null; then echo kernel=written; else echo kernel=closed; fi",
    "if : > /dev/null && [ -c /dev/zero ]; then echo devices=there; fi",
    "echo interfaces=$(($(wc -l < /proc/net/dev) - 2))",
  ].join("\n");
}

/** A user that the system does not know has none. */
function ownHome(): string {
  try {
    return homedir();
  } catch {
    return "/";
  }
}

/** Where nothing is isolated it is really written, and so taken away again. */
function writes(name: string, path: string): string {
  return `if (: > ${path}) 2>/dev/null; then rm -f ${path}; echo ${name}=written; else echo ${name}=closed; fi`;
}

/** Throws for a failed check. `hasFilter`: system calls are expected to be filtered. */
export function judgeSelfTest(response: ExecuteResponse, hasFilter: boolean): void {
  const answers = new Map(
    response.output.split("\n").map((line) => {
      const [, name = "", value = ""] = /^(\w+)(?:=|:\s*)(.*)$/.exec(line) ?? [];
      return [name, value] as const;
    }),
  );
  if (answers.get("mark") !== MARK)
    throw unavailable(response.output.trim() || `it ended with ${response.exitCode}`);
  const asked = Object.entries(expected(hasFilter)).filter(
    ([name]) => process.platform !== "darwin" || MAC_ANSWERS.includes(name),
  );
  const wrong = asked.find(([name, wanted]) => !wanted(answers.get(name) ?? ""));
  if (wrong !== undefined)
    throw unavailable(`its self-test failed at ${wrong[0]} (${answers.get(wrong[0]) ?? "no answer"})`);
}

type Wanted = (value: string) => boolean;

function expected(hasFilter: boolean): Readonly<Record<string, Wanted>> {
  const isNone: Wanted = (value) => /^0+$/.test(value);
  const isOther =
    (kind: string): Wanted =>
    (value) =>
      value !== "" && value !== ownNamespace(kind);
  return {
    Uid: (value) => value.split("\t").every((id) => id === String(SANDBOX_ID)),
    CapEff: isNone,
    CapPrm: isNone,
    CapBnd: isNone,
    NoNewPrivs: (value) => value === "1",
    ...(hasFilter ? { Seccomp: (value: string) => value === "2" } : {}),
    pid: isOther("pid"),
    net: isOther("net"),
    ipc: isOther("ipc"),
    uts: isOther("uts"),
    user: isOther("user"),
    home: (value) => value === "hidden",
    system: (value) => value === "closed",
    root: (value) => value === "closed",
    kernel: (value) => value === "closed",
    devices: (value) => value === "there",
    interfaces: (value) => value === "1",
  };
}

function ownNamespace(kind: string): string {
  return existsSync(`/proc/self/ns/${kind}`) ? readlinkSync(`/proc/self/ns/${kind}`) : "";
}

const NO_NAMESPACES = /namespace|uid map|Operation not permitted|Permission denied|CLONE_NEW/i;

/** The error includes advice. */
export function unavailable(reason: string, isNested = false): SandboxError {
  const second = isNested
    ? '. Files that are to be protected need a second user namespace in the first: where only one is allowed, set controlFiles to "allow" and leave out readOnly and hidden'
    : "";
  const fix = NO_NAMESPACES.test(reason)
    ? "Allow user namespaces (sysctl user.max_user_namespaces=15000; on Debian kernel.unprivileged_userns_clone=1; on Ubuntu 24.04 and later kernel.apparmor_restrict_unprivileged_userns=0 or a profile for bwrap; in a container, a security profile that allows them)"
    : "Check that bubblewrap 0.5 or later works here (`bwrap --ro-bind / / true`)";
  return new SandboxError(
    `The os sandbox cannot be used here: ${reason}. ${fix}, or use ${ALTERNATIVES}${second}.`,
    "SANDBOX_UNAVAILABLE",
  );
}

/** Adds advice to the error of a sandbox that could not be set up; other errors stay. */
export function setUpFailure(error: SandboxError, isNested: boolean): SandboxError {
  const [, reason] = /could not be set up: ([\s\S]*)$/.exec(error.message) ?? [];
  return reason === undefined ? error : unavailable(reason, isNested);
}
