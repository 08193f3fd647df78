import { expect, test } from "vitest";
import { createSandbox, type Sandbox, type SandboxProvider } from "../index.ts";
import { runOf, testProvider } from "./sandboxes-for-tests.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The same work in any sandbox, and what came of it. */
async function work(sandbox: Sandbox): Promise<unknown[]> {
  const untimed = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value, (key, one) => (key.endsWith("_at") ? undefined : one)));
  const done = [
    await sandbox.write("/a/one.txt", "one\ntwo\nthree\n"),
    await sandbox.write("/a/one.txt", "again"),
    await sandbox.write("/a/one.txt", "one\ntwo\nthree\n", { overwrite: true }),
    await sandbox.append?.("/a/one.txt", "four\n"),
    await sandbox.edit("/a/one.txt", "o", "0", true),
    await sandbox.edit("/a/one.txt", "none", "x"),
    await sandbox.read("/a/one.txt", 1, 2),
    await sandbox.readRaw("/a/one.txt"),
    await sandbox.ls("/a"),
    await sandbox.glob("*.txt", "/"),
    await sandbox.grep("0", "/a", "*.txt", 2),
    await sandbox.uploadFiles?.([["/up.bin", bytes("\0\u0001")]]),
    await sandbox.downloadFiles?.(["/up.bin", "/none"]),
    await sandbox.realPath?.("/a/one.txt"),
    await sandbox.delete?.("/a"),
    await sandbox.execute("ls; exit 3", { timeout: 600 }),
  ];
  return done.map(untimed);
}

test("every operation does what the sandbox of the provider does", async () => {
  const provider = testProvider();
  const own = await provider.open({ key: "own", env: {} });
  await using source = createSandbox({ provider });
  const seen = await work(await source(runOf("t")));
  expect(seen).toEqual(await work(own.sandbox));
  expect(seen.at(-1)).toMatchObject({ output: "up.bin\n", exitCode: 3 });
});

test("what the sandbox of the provider cannot do is told when it is asked for", async () => {
  const inner = testProvider();
  const provider: SandboxProvider = {
    ...inner,
    open: async (request) => {
      const opened = await inner.open(request);
      const { id, execute, ls, read, readRaw, write, edit, grep, glob } = opened.sandbox;
      const few = { id, execute, ls, read, readRaw, write, edit, grep, glob };
      for (const [name, method] of Object.entries(few))
        if (typeof method === "function") Object.assign(few, { [name]: method.bind(opened.sandbox) });
      return { ...opened, sandbox: few };
    },
  };
  await using lease = await createSandbox({ provider }).lease();
  await expect(lease.sandbox.append?.("/a", "x")).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
  expect(await lease.sandbox.realPath?.("/a")).toBe("/a");
});

test("an operation that is stopped before it began opens nothing", async () => {
  const provider = testProvider();
  await using source = createSandbox({ provider });
  const sandbox = await source(runOf("t"));
  const signal = AbortSignal.abort(new Error("stopped"));
  await expect(sandbox.ls("/", { signal })).rejects.toThrow("stopped");
  expect(provider.log).toEqual([]);
});
