/** `LangSmithSandbox` of `deepwright`, which shares the local LangSmith with the provider's tests. */
import { LangSmithSandbox } from "deepwright";
import { backendSuite } from "deepwright/testing";
import { LangSmithCommandTimeoutError, SandboxClient } from "langsmith/sandbox";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { LANGSMITH_KEY, LangSmithServer } from "./langsmith-server-for-tests.ts";

const server = await LangSmithServer.start();
afterAll(() => server.close());

const client = new SandboxClient({ apiKey: LANGSMITH_KEY, apiEndpoint: server.apiUrl });
const handle = await client.createSandbox({ name: "shared" });
const shared = new LangSmithSandbox({ sandbox: handle });
let count = 0;

backendSuite(
  { describe, test },
  {
    name: "files of a LangSmithSandbox",
    open: async () => {
      const root = `/root/case-${++count}`;
      const { machine } = server.sandboxes.get("shared")!;
      await machine.makeDirectory(root);
      return { backend: shared, root, close: () => machine.remove(root) };
    },
    keepsEmptyDirectories: true,
    detectsEncodings: true,
    timeoutMs: 600_000,
    size: "small",
  },
);

/** Settings that a program without options gets from its environment. */
function environment(apiKey = LANGSMITH_KEY): void {
  const before = { ...process.env };
  onTestFinished(() => {
    for (const key of ["LANGSMITH_ENDPOINT", "LANGSMITH_API_KEY"])
      if (before[key] === undefined) delete process.env[key];
      else process.env[key] = before[key];
  });
  process.env.LANGSMITH_ENDPOINT = server.loopback.url;
  process.env.LANGSMITH_API_KEY = apiKey;
}

test("a sandbox is created from a snapshot, works, stops, starts and is deleted", async () => {
  environment();
  const sandbox = await LangSmithSandbox.create({ snapshotId: "snap-1", idleTtlSeconds: 60 });
  const made = server.sandboxes.get(sandbox.id);
  expect(made?.request).toMatchObject({ snapshot_id: "snap-1", idle_ttl_seconds: 60 });
  expect(await sandbox.execute("echo out; echo err >&2; exit 3")).toEqual({
    output: "out\n\nerr\n",
    exitCode: 3,
    truncated: false,
  });
  expect(await sandbox.write("/root/a.txt", "alpha")).toMatchObject({ path: "/root/a.txt" });
  await sandbox.stop();
  expect(sandbox.isRunning).toBe(false);
  await sandbox.start();
  expect(sandbox.isRunning).toBe(true);
  expect(await sandbox.read("/root/a.txt")).toMatchObject({ content: "alpha" });
  await sandbox.close();
  expect([sandbox.isRunning, server.sandboxes.has(sandbox.id)]).toEqual([false, false]);
});

/** A sandbox of the SDK whose commands do what `run` does. */
function running(run: () => Promise<never>): LangSmithSandbox {
  return new LangSmithSandbox({ sandbox: Object.assign(Object.create(handle), { run }) });
}

test("a command that runs out of time has exit code 124", async () => {
  const sandbox = running(async () => {
    throw new LangSmithCommandTimeoutError("Command timed out after 1s", 1);
  });
  expect(await sandbox.execute("sleep 600", { timeout: 1 })).toMatchObject({ exitCode: 124 });
});

test("an aborted command is not waited for", async () => {
  const stop = new AbortController();
  const waiting = running(() => new Promise(() => undefined)).execute("sleep 600", { signal: stop.signal });
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("a missing file is one result of a download", async () => {
  await shared.uploadFiles([["/root/there.bin", new Uint8Array([1, 255])]]);
  const [there, missing] = await shared.downloadFiles(["/root/there.bin", "/root/none"]);
  expect([...(there?.content ?? [])]).toEqual([1, 255]);
  expect(missing).toEqual({ path: "/root/none", content: null, error: "file_not_found" });
});

test("a refused key is ACCESS_DENIED, and the message does not have the key", async () => {
  environment("lsv2_pt_wrong_wrong_wrong_wrong");
  const error = await LangSmithSandbox.create({ templateName: "base" }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "ACCESS_DENIED" });
  expect((error as Error).message).toContain("LANGSMITH_API_KEY");
  expect((error as Error).message).not.toContain("lsv2_pt_wrong");
});

test("create takes a snapshot or a template, and not both", async () => {
  for (const options of [{}, { snapshotId: "a", templateName: "b" }])
    await expect(LangSmithSandbox.create(options)).rejects.toMatchObject({ code: "INVALID_OPTION" });
});
