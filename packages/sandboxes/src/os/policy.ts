/** Parts of this machine that a command in the sandbox sees, and its variables: the same for Linux and macOS. */
import type { OsSettings } from "./os-options.ts";

/** Programs and their libraries; links among them are kept. */
export const SYSTEM_DIRECTORIES = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Settings for programs are below some of them, and may hold keys. */
export const HIDDEN_SYSTEM = ["/usr/local/etc", "/usr/etc"];

/** Files of `/etc` that programs need to start, to print dates and to trust servers. Keys lie elsewhere. */
export const SYSTEM_SETTINGS = [
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "ld-musl-x86_64.path",
  "ld-musl-aarch64.path",
  "alternatives",
  "ssl/certs",
  "ssl/cert.pem",
  "ssl/openssl.cnf",
  "pki/tls/certs",
  "pki/tls/cert.pem",
  "pki/tls/openssl.cnf",
  "pki/ca-trust/extracted",
  "ca-certificates/extracted",
  "crypto-policies/back-ends",
  "localtime",
  "timezone",
  "host.conf",
  "protocols",
  "services",
  "mime.types",
  "magic",
  "os-release",
  "debian_version",
  "fonts",
];

/** Files of `/etc` that every command has and that say nothing about this machine. */
export const OWN_SETTINGS: Readonly<Record<string, string>> = {
  passwd: "agent:x:1000:1000:agent:/home/agent:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
  group: "agent:x:1000:\nnogroup:x:65534:\n",
  hosts: "127.0.0.1 localhost\n::1 localhost\n",
  hostname: "sandbox\n",
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
  "resolv.conf": "",
};

/** Named where this sandbox cannot be used. */
export const ALTERNATIVES =
  "another sandbox: docker on this machine, or modal, daytona, e2b, runloop, langsmith, agentcore";

export const SANDBOX_ID = 1000;
export const SANDBOX_HOST = "sandbox";
export const SANDBOX_HOME = "/home/agent";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Variables of this process that say how to write dates and numbers. */
const TAKEN = /^(?:LANG|LANGUAGE|TZ|LC_[A-Z]+)$/;

/** Later variables win. No other variable of this process is passed. */
export function sandboxEnvironment(
  ...given: readonly Readonly<Record<string, string>>[]
): Record<string, string> {
  const taken = Object.entries(process.env).filter(
    (entry): entry is [string, string] => TAKEN.test(entry[0]) && entry[1] !== undefined,
  );
  const own = {
    PATH,
    HOME: SANDBOX_HOME,
    USER: "agent",
    LOGNAME: "agent",
    SHELL: "/bin/sh",
    TMPDIR: "/tmp",
    TERM: "dumb",
  };
  return Object.assign({}, own, Object.fromEntries(taken), ...given);
}

/** Read by the programs that set a sandbox up, so they are set inside, where they do no harm. They are no place for secrets. */
const OBEYED_OUTSIDE =
  /^(?:LD_.*|GLIBC_TUNABLES|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_.*|ENV|BASH_.*|SHELLOPTS|BASHOPTS|PS4|IFS|POSIXLY_CORRECT)$/;

export interface SplitEnvironment {
  readonly outside: Record<string, string>;
  readonly inside: Record<string, string>;
}

export function splitEnvironment(environment: Readonly<Record<string, string>>): SplitEnvironment {
  const outside: Record<string, string> = {};
  const inside: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment))
    (OBEYED_OUTSIDE.test(name) ? inside : outside)[name] = value;
  return { outside, inside };
}

/** How commands see the files, for the model; undefined where paths are the same. */
export function commandNote(settings: OsSettings): string | undefined {
  if (settings.commandNote !== undefined) return settings.commandNote;
  const directory = settings.workingDirectory;
  const reach = settings.egress === undefined ? "There is no network. " : "";
  const isSame = settings.files === undefined && process.platform !== "darwin";
  const named = settings.files === undefined ? directory : (settings.files.workingDirectory ?? "/");
  const where = isSame
    ? `Commands start in \`${directory}\` and use the same paths as files do; \`/tmp\` is shared with files too.`
    : `Commands start in the directory that file paths call \`${named}\`: in a command, write \`./a/b\` for the file \`${named === "/" ? "" : named}/a/b\`.`;
  const closed = settings.protectsControlFiles
    ? "Files that steer other programs, such as `.git/config`, `.vscode` or `.github`, cannot be changed; one that a command makes at the top is moved away. "
    : "";
  return `${where} ${reach}${closed}Of the rest of the machine only programs can be seen, and nothing there can be changed.`;
}
