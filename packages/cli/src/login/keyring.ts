/** The keyring of the operating system, through the programs that come with it. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";

export interface Keyring {
  /** For people. */
  readonly title: string;
  /** False: it could not be stored. */
  store(account: string, secret: string): Promise<boolean>;
  lookup(account: string): Promise<string | undefined>;
  remove(account: string): Promise<boolean>;
}

const SERVICE = "deepwright";
/** A locked keyring asks the person, who needs time when a key is stored; a run does not wait long. */
const STORE_MS = 60_000;
const LOOKUP_MS = 5_000;

/** Undefined where there is none, or DEEPWRIGHT_KEYRING is `off`. */
export async function openKeyring(env: NodeJS.ProcessEnv): Promise<Keyring | undefined> {
  if (env.DEEPWRIGHT_KEYRING === "off") return undefined;
  if (process.platform === "darwin") return keychain(env);
  const program = await programIn("secret-tool", env);
  return program === undefined ? undefined : secretService(program, env);
}

/** freedesktop's Secret Service: GNOME Keyring, KWallet, KeePassXC. The secret travels on stdin and stdout. */
function secretService(program: string, env: NodeJS.ProcessEnv): Keyring {
  const run = runner(program, env);
  const place = (account: string): readonly string[] => ["service", SERVICE, "account", account];
  return {
    title: "the keyring of your desktop",
    store: async (account, secret) =>
      (await run(["store", `--label=${SERVICE} ${account}`, ...place(account)], secret, STORE_MS)).ok,
    lookup: async (account) => found(await run(["lookup", ...place(account)], "", LOOKUP_MS)),
    remove: async (account) => (await run(["clear", ...place(account)], "", LOOKUP_MS)).ok,
  };
}

/** macOS. `security -i` reads its command from stdin, so that the secret is in no list of processes. */
function keychain(env: NodeJS.ProcessEnv): Keyring {
  const run = runner("/usr/bin/security", env);
  const place = (account: string): readonly string[] => ["-s", SERVICE, "-a", account];
  return {
    title: "the keychain",
    store: async (account, secret) => {
      const words = ["add-generic-password", "-U", ...place(account), "-w", JSON.stringify(secret)];
      return (await run(["-i"], `${words.join(" ")}\n`, STORE_MS)).ok;
    },
    lookup: async (account) =>
      found(await run(["find-generic-password", ...place(account), "-w"], "", LOOKUP_MS)),
    remove: async (account) => (await run(["delete-generic-password", ...place(account)], "", LOOKUP_MS)).ok,
  };
}

interface Answer {
  readonly ok: boolean;
  readonly stdout: string;
}

function found({ ok, stdout }: Answer): string | undefined {
  const secret = stdout.replace(/\r?\n$/, "");
  return ok && secret !== "" ? secret : undefined;
}

function runner(program: string, env: NodeJS.ProcessEnv) {
  return async (args: readonly string[], input: string, milliseconds: number): Promise<Answer> => {
    const { startProgram } = await import("deepwright/internal");
    const kept = Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        /^(PATH|HOME|USER|LOGNAME|LANG|DISPLAY|WAYLAND_DISPLAY|XDG_.*|DBUS_.*)$/.test(entry[0]),
    );
    const options = { cwd: "/", env: Object.fromEntries(kept), stdio: "pipe", group: "own" } as const;
    const child = startProgram(program, args, options);
    const timer = setTimeout(() => child.kill("SIGKILL"), milliseconds);
    let stdout = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr?.resume();
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    const ok = await new Promise<boolean>((resolve) => {
      child.on("error", () => resolve(false));
      child.on("close", (code) => resolve(code === 0));
    });
    clearTimeout(timer);
    return { ok, stdout };
  };
}

export async function programIn(name: string, { PATH = "" }: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const directory of PATH.split(delimiter).filter((one) => isAbsolute(one))) {
    const path = join(directory, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
