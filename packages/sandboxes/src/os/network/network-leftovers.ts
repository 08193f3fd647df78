/** Removes files of networks whose process was killed. */
import { readdir, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";

/** One that is being made has no socket yet, or nobody at it. */
const MIN_AGE = 60_000;

/** Removes directories of `openSandboxNetwork` in which nobody listens any more. */
export async function removeLeftovers(directory: string, prefix: string, socket: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  const ours = names.filter((name) => name.startsWith(prefix)).map((name) => join(directory, name));
  await Promise.all(
    ours.map(async (path) => {
      const age = await stat(path).then(
        ({ mtimeMs }) => Math.abs(Date.now() - mtimeMs),
        () => 0,
      );
      if (age < MIN_AGE || (await isServed(join(path, socket)))) return;
      await rm(path, { recursive: true, force: true });
    }),
  );
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => answer(true));
    // Only these two say that nobody is there.
    socket.once("error", ({ code }: NodeJS.ErrnoException) =>
      answer(code !== "ECONNREFUSED" && code !== "ENOENT"),
    );
  });
}
