/** Opens a link in the browser of the person. */
import { randomBytes } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programIn } from "../login/keyring.ts";

/** Whether there is a person with a screen: not over ssh, not in a pipe. */
export function hasScreen({ stderr, platform }: NodeJS.Process, env: NodeJS.ProcessEnv): boolean {
  if (!stderr.isTTY || env.SSH_CONNECTION || env.CI) return false;
  return platform === "darwin" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/**
 * Everybody on the machine sees the arguments of programs, so the link is in a file that only the person can read. It is
 * removed when the returned function is called. A browser that does not open is no failure: the link is printed too.
 */
export async function openBrowser(
  link: string,
  home: string,
  env: NodeJS.ProcessEnv,
): Promise<() => Promise<void>> {
  const program = process.platform === "darwin" ? "/usr/bin/open" : await programIn("xdg-open", env);
  if (program === undefined) return async () => {};
  const path = join(home, `open-${randomBytes(8).toString("hex")}.html`);
  await writeFile(path, pageTo(link), { flag: "wx", mode: 0o600 });
  const { startProgram } = await import("deepwright/internal");
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/TOKEN|KEY|SECRET|PASSWORD/i.test(entry[0]),
  );
  const child = startProgram(program, [pathToFileURL(path).href], {
    cwd: "/",
    env: Object.fromEntries(kept),
    stdio: "ignore",
    group: "own",
  });
  child.on("error", () => {});
  child.unref();
  return () => rm(path, { force: true });
}

/** The link is ours: an address of this machine and a code in base64. */
function pageTo(link: string): string {
  return `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${link}"><title>Deepwright</title>`;
}
