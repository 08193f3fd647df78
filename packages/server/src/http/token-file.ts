/** The token of a server that serves one person: made once, kept where only that person can read it. */
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { ConfigurationError } from "deepwright";

export interface ServerToken {
  readonly token: string;
  /** Where it is kept. */
  readonly path: string;
  /** It was made now: the one time to show it. */
  readonly created: boolean;
}

export const newToken = (): string => randomBytes(32).toString("base64url");

export const defaultTokenPath = (): string => join(homedir(), ".deepwright", "server-token");

/** A file others can read is closed to them; one that is a link or of somebody else is refused. */
export async function openTokenFile(path: string = defaultTokenPath()): Promise<ServerToken> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const token = newToken();
  try {
    await writeFile(path, `${token}\n`, { flag: "wx", mode: 0o600 });
    return { token, path, created: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return { token: await readToken(path), path, created: false };
}

async function readToken(path: string): Promise<string> {
  const facts = await lstat(path);
  const uid = process.getuid?.();
  if (!facts.isFile() || (uid !== undefined && facts.uid !== uid))
    throw new ConfigurationError("INVALID_OPTION", `The token file ${path} is not a file of this user.`, {
      hint: "Remove it: a new one is made.",
    });
  if ((facts.mode & 0o077) !== 0) await chmod(path, 0o600);
  const token = (await readFile(path, "utf8")).trim();
  if (!/^\S{32,512}$/.test(token))
    throw new ConfigurationError("INVALID_OPTION", `The token file ${path} holds no token.`, {
      hint: "Remove it: a new one is made.",
    });
  return token;
}
