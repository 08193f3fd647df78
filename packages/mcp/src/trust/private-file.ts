/** A file of decisions that only this user may have written. */
import { randomBytes } from "node:crypto";
import { constants, mkdir, open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigurationError } from "deepwright/errors";

/**
 * The text of the file; undefined if it does not exist. A link, and a file of another user, is refused. If others can
 * read or write the file, it is closed to them. All checks are made on the descriptor that is read.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    if (error.code === "ELOOP") throw foreign(path, "a link");
    throw error;
  });
  try {
    const facts = await file?.stat();
    if (file === undefined || facts === undefined) return undefined;
    const uid = process.getuid?.();
    if (!facts.isFile()) throw foreign(path, "not a file");
    if (uid !== undefined && facts.uid !== uid) throw foreign(path, "a file of another user");
    if ((facts.mode & 0o077) !== 0) await file.chmod(0o600);
    return await file.readFile("utf8");
  } finally {
    await file?.close();
  }
}

/** Readers see the file before or after, never half of it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(next, text, { flag: "wx", mode: 0o600, flush: true });
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

function foreign(path: string, what: string): ConfigurationError {
  return new ConfigurationError("INVALID_OPTION", `${path} is ${what}: its content is not trusted.`, {
    hint: "Remove it; you will be asked again.",
  });
}
