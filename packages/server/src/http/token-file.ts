/** The token of a server that serves one person: made once, kept where only that person can read it. */
import { randomBytes } from "node:crypto";
import { constants, link, mkdir, open, rm, writeFile } from "node:fs/promises";
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

/** A file that others can read is closed to them. A link, or a file of another user, is refused. */
export async function openTokenFile(path: string = defaultTokenPath()): Promise<ServerToken> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const token = newToken();
  // The file appears with its content: a second server never reads one that is still empty.
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    await writeFile(draft, `${token}\n`, { flag: "wx", mode: 0o600, flush: true });
    await link(draft, path);
    return { token, path, created: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return { token: await readToken(path), path, created: false };
}

async function readToken(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    (error) => {
      if (error.code === "ELOOP") throw unusable(path, "is a link, not a file of this user");
      throw error;
    },
  );
  try {
    const facts = await file.stat();
    const uid = process.getuid?.();
    if (!facts.isFile() || (uid !== undefined && facts.uid !== uid))
      throw unusable(path, "is not a file of this user");
    if ((facts.mode & 0o077) !== 0) await file.chmod(0o600);
    const token = (await file.readFile("utf8")).trim();
    if (!/^\S{32,512}$/.test(token)) throw unusable(path, "holds no token");
    return token;
  } finally {
    await file.close();
  }
}

function unusable(path: string, reason: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `The token file ${path} ${reason}.`, {
    hint: "Remove it: a new one is made.",
  });
}
