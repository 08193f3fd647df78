/** The limits of a process, as words of a POSIX shell that sets them and becomes the next program. */
import { readFileSync } from "node:fs";
import type { Limits } from "./os-options.ts";
import { LIMITS_REPORT, NOT_LIMITED_WORD } from "./set-up-report.ts";

/** Exit code of a shell that could not set its limits: the program is then not run. */
const NOT_LIMITED = 126;

const BLOCK = 512;
const MEGABYTE = 1024 * 1024;

/**
 * `before` are words that have to succeed first. `countsProcesses`: also limits processes, which the kernel counts for
 * the user in its user namespace, so the limit must be set inside of it. `reports`: a failure to set limits is written
 * to a descriptor that the program does not get.
 */
export function limitWords(
  limits: Limits,
  options: {
    readonly countsProcesses: boolean;
    readonly before?: readonly string[];
    readonly reports?: boolean;
  },
): string {
  const own = ownLimits();
  const words = [
    ...(options.before ?? []),
    "ulimit -c 0",
    `ulimit -t ${least(limits.cpuSeconds, own.get("Max cpu time"))}`,
    `ulimit -f ${least(limits.fileSizeMb * (MEGABYTE / BLOCK), blocks(own.get("Max file size")))}`,
    `ulimit -n ${least(limits.openFiles, own.get("Max open files"))}`,
  ];
  if (options.countsProcesses) {
    const most = least(limits.processes, own.get("Max processes"));
    // The name of the option depends on the shell.
    words.push(`{ ulimit -u ${most} 2>/dev/null || ulimit -p ${most}; }`);
  }
  const [closed, said] = options.reports
    ? [` ${LIMITS_REPORT}>&-`, `echo ${NOT_LIMITED_WORD} >&${LIMITS_REPORT}; `]
    : ["", ""];
  return `${words.join(" && ")} && exec "$@"${closed}; ${said}exit ${NOT_LIMITED}`;
}

function least(wanted: number, most: number | undefined): number {
  return Math.min(wanted, most ?? wanted);
}

function blocks(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : Math.floor(bytes / BLOCK);
}

/** The hard limits of this process; higher limits cannot be set. */
function ownLimits(): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  let text = "";
  try {
    text = readFileSync("/proc/self/limits", "utf8");
  } catch {
    // Another system: the shell itself reports limits that it cannot set.
  }
  for (const line of text.split("\n")) {
    const [, name, , hard] = /^(.+?) {2,}(\S+) +(\S+)/.exec(line) ?? [];
    if (name !== undefined && /^\d+$/.test(hard ?? "")) found.set(name, Number(hard));
  }
  return found;
}
