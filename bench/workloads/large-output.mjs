/** How much memory a flood costs: a command that prints 1 GB, a page of a file of 2 GB. */
import { join } from "node:path";

const OPERATIONS = {
  command: async ({ LocalShellBackend }, folder) => {
    const shell = new LocalShellBackend({
      rootDir: join(folder, "large"),
      virtualMode: true,
      inheritEnv: true,
    });
    const { truncated, output } = await shell.execute("head -c 1000000000 /dev/zero | tr '\\0' a", {
      timeout: 300,
    });
    if (!truncated || output.length > 1_000_000) throw new Error("The output was not bounded.");
  },
  file: async ({ FilesystemBackend }, folder) => {
    const disk = new FilesystemBackend({ rootDir: join(folder, "large"), virtualMode: true });
    const page = await disk.read("/sparse.txt", 0, 100);
    if (page.error !== undefined || page.endLine !== 100) throw new Error("The page was not read.");
    const { skipped } = await disk.grep("needle", "/");
    if (!skipped?.length) throw new Error("Files over the limit must be named.");
  },
};

export async function measure(contender, { operation }) {
  const library = await import(contender);
  await new Promise((resolve) => setTimeout(resolve, 200));
  globalThis.gc();
  const before = process.memoryUsage.rss();
  let most = before;
  const look = () => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(look, 10);
  await OPERATIONS[operation](library, process.env.DEEPWRIGHT_BENCH_FILES);
  look();
  clearInterval(timer);
  return { grownMegabytes: (most - before) / 2 ** 20 };
}
