/**
 * The same policy for macOS, in the language of Seatbelt: nothing is allowed but to read what programs need, to write
 * the workspace and the sandbox's own temporary files, and never the files that steer other programs.
 */
import { join } from "node:path";
import { CONTROL_NAMES } from "deepwright/internal";

export interface SeatbeltPolicy {
  /** Real paths. */
  readonly workspace: string;
  readonly temporary: string;
  readonly visible: readonly string[];
  /** Relative to the workspace. */
  readonly readOnly: readonly string[];
  readonly hidden: readonly string[];
  readonly protectsControlFiles: boolean;
  readonly controlPaths: readonly string[];
  /** The socket of the proxy, where there is one; absent: no network of any kind. */
  readonly proxySocket?: string;
}

/** Programs, their libraries and what they are configured by; keys and people's files are elsewhere. */
const READABLE = [
  ...[
    "/usr",
    "/bin",
    "/sbin",
    "/System",
    "/Library/Apple",
    "/Library/Developer",
    "/opt/homebrew",
    "/opt/local",
  ],
  ...["/private/etc/ssl", "/private/var/db/timezone", "/private/var/db/dyld", "/Applications/Xcode.app"],
];
const READABLE_FILES = [
  ...["/", "/private", "/private/etc", "/private/var", "/private/var/select/sh", "/private/etc/localtime"],
  ...["/etc", "/var", "/tmp", "/dev", "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/fd"],
];
const WRITABLE_DEVICES = ["/dev/null", "/dev/zero", "/dev/dtracehelper"];

/** The last rule that fits decides, so what is forbidden stands at the end. */
export function seatbeltProfile(policy: SeatbeltPolicy): string {
  const { workspace, temporary } = policy;
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork)",
    "(allow process-exec)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    "(allow process-info* (target same-sandbox))",
    "(allow file-read-metadata)",
    rule("allow", "file-read*", [
      ...READABLE.map(subpath),
      ...READABLE_FILES.map(literal),
      ...policy.visible.map(subpath),
      subpath(workspace),
      subpath(temporary),
    ]),
    rule("allow", "file-write*", [subpath(workspace), subpath(temporary)]),
    rule("allow", "file-write-data", WRITABLE_DEVICES.map(literal)),
    ...forbidden(policy),
    "(deny file-write-setugid)",
    "(deny network*)",
    ...(policy.proxySocket === undefined
      ? []
      : [
          rule("allow", "network-outbound", [
            `(remote unix-socket (path-literal ${quoted(policy.proxySocket)}))`,
          ]),
        ]),
    "",
  ].join("\n");
}

/** In a repository, only what names programs: a commit has to be possible. Names count in whatever case. */
function forbidden(policy: SeatbeltPolicy): string[] {
  const { workspace, readOnly, hidden, protectsControlFiles, controlPaths } = policy;
  const root = escaped(workspace);
  const directories = [...CONTROL_NAMES.directories].filter((name) => name !== ".git" && !name.includes("~"));
  const control = [
    `(regex #"^${root}/(.*/)?(${directories.map(anyCase).join("|")})(/|$)")`,
    `(regex #"^${root}/(.*/)?(${[...CONTROL_NAMES.files].map(anyCase).join("|")})$")`,
    `(regex #"^${root}/(.*/)?${anyCase(".git")}$")`,
    `(regex #"^${root}/(.*/)?${anyCase(".git")}/(.*/)?(hooks|config|config\\.worktree|commondir|modules|worktrees)(/|$)")`,
  ];
  const paths = (names: readonly string[]): string[] => names.map((name) => subpath(join(workspace, name)));
  return [
    ...(protectsControlFiles ? [rule("deny", "file-write*", [...control, ...paths(controlPaths)])] : []),
    ...(readOnly.length > 0 ? [rule("deny", "file-write*", paths(readOnly))] : []),
    ...(hidden.length > 0 ? [rule("deny", "file-read* file-write*", paths(hidden))] : []),
  ];
}

function rule(decision: "allow" | "deny", operations: string, filters: readonly string[]): string {
  return `(${decision} ${operations}\n${filters.map((filter) => `  ${filter}`).join("\n")})`;
}

function subpath(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function literal(path: string): string {
  return `(literal ${quoted(path)})`;
}

function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, "\\$&")}"`;
}

/** As part of a regular expression between quotes. */
function escaped(path: string): string {
  return path.replace(/[\\^$.*+?()[\]{}|"]/g, "\\$&");
}

function anyCase(name: string): string {
  return escaped(name).replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`);
}
