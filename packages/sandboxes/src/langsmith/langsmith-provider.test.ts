import { SandboxError } from "deepwright";
import { SandboxClient } from "langsmith/sandbox";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { langsmithSandbox } from "../langsmith.ts";
import type { OpenedSandbox, OpenRequest } from "../provider.ts";
import { untilRunning } from "../remote/processes-for-tests.ts";
import { LANGSMITH_KEY, LangSmithServer } from "./langsmith-server-for-tests.ts";

const REQUEST: OpenRequest = { key: "thread-1", env: {} };

let server: LangSmithServer;

beforeEach(async () => {
  server = await LangSmithServer.start();
});

afterEach(() => server.close());

const provider = (options: Parameters<typeof langsmithSandbox>[0] = {}) =>
  langsmithSandbox({ apiKey: LANGSMITH_KEY, apiUrl: server.apiUrl, ...options });

const machineOf = ({ id }: OpenedSandbox) => server.sandboxes.get(id)!.machine;

async function failure(work: Promise<unknown>): Promise<SandboxError> {
  const error = await work.then(
    (value) => new Error(`It did not fail: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  expect(SandboxError.isInstance(error), String(error)).toBe(true);
  const text = `${(error as Error).message} ${String((error as Error).cause)} ${JSON.stringify(error)}`;
  expect(text).not.toContain(LANGSMITH_KEY);
  return error as SandboxError;
}

describe("langsmithSandbox", () => {
  it("reaches nobody until something is opened, and says what it is", () => {
    expect(provider()).toMatchObject({ name: "langsmith", network: "open", workingDirectory: "/root" });
    expect(provider({ network: { allow: ["pypi.org"] } }).network).toBe("allow-list");
    expect(server.loopback.requests).toEqual([]);
    expect(() => provider({ network: "none" as never })).toThrow("cannot cut a sandbox off");
    expect(() => provider({ workingDirectory: "here" })).toThrow("no absolute path");
    expect(() => provider({ snapshot: "a", snapshotName: "b" })).toThrow("two ways");
    expect(() => provider({ openTimeout: 0 })).toThrow("openTimeout");
  });

  it("creates what was asked for, with a name that stands for the key and minutes of life", async () => {
    const settings = { network: { allow: ["pypi.org"] }, snapshot: "snap-1", create: { vCpus: 2 } };
    const opened = await provider(settings).open({ ...REQUEST, ttl: 90 });
    expect(opened.id).toMatch(/^deepwright-[0-9a-f]{32}-[0-9a-f]{16}$/);
    expect(server.sandboxes.get(opened.id)?.request).toMatchObject({
      name: opened.id,
      snapshot_id: "snap-1",
      vcpus: 2,
      idle_ttl_seconds: 120,
      delete_after_stop_seconds: 60,
      proxy_config: { access_control: { allow_list: ["pypi.org"] } },
    });
    const plain = await provider().open(REQUEST);
    expect(server.sandboxes.get(plain.id)?.request).not.toHaveProperty("idle_ttl_seconds");
  });

  it.each<[string, number, object, string]>([
    [
      "a wrong key",
      401,
      { detail: { error: "Unauthorized", message: `Invalid ${LANGSMITH_KEY}` } },
      "ACCESS_DENIED",
    ],
    ["a key that may not", 403, { detail: "Forbidden" }, "ACCESS_DENIED"],
    ["a quota", 429, { detail: { error: "Quota", message: "sandbox count limit" } }, "QUOTA_EXCEEDED"],
    ["what is not valid", 400, { detail: [{ msg: "bad name" }] }, "SANDBOX_UNAVAILABLE"],
    ["no room", 503, { detail: { error: "Unschedulable", message: "no nodes" } }, "SANDBOX_UNAVAILABLE"],
    ["a failure", 500, { detail: "oops" }, "SANDBOX_UNAVAILABLE"],
    ["a page of a proxy", 502, {}, "SANDBOX_UNAVAILABLE"],
  ])("tells %s, and leaves nothing", async (_, status, body, code) => {
    server.loopback.faults.add({ kind: "status", status, body, when: (method) => method === "POST" });
    expect(await failure(provider().open(REQUEST))).toMatchObject({ code });
    expect(server.sandboxes.size).toBe(0);
  });

  it("a key that LangSmith does not know is told with what to do", async () => {
    const error = await failure(provider({ apiKey: "wrong" }).open(REQUEST));
    expect(error).toMatchObject({
      code: "ACCESS_DENIED",
      message: expect.stringContaining("LANGSMITH_API_KEY"),
    });
  });

  it("without a key the variable is named, and nobody is asked", async () => {
    vi.stubEnv("LANGSMITH_API_KEY", undefined);
    vi.stubEnv("LANGCHAIN_API_KEY", undefined);
    try {
      const error = await failure(langsmithSandbox({ apiUrl: server.apiUrl }).open(REQUEST));
      expect(error).toMatchObject({
        code: "ACCESS_DENIED",
        message: "LangSmith needs a key. Set LANGSMITH_API_KEY, or pass apiKey.",
      });
      expect(server.loopback.requests).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it.each([false, true])(
    "a connection that breaks while it creates leaves nothing (after it acted: %s)",
    async (after) => {
      server.loopback.faults.add({ kind: "drop", after, when: (method) => method === "POST" });
      expect(await failure(provider().open(REQUEST))).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
      await until(() => server.sandboxes.size === 0);
    },
  );

  it("a creation that takes too long, or that nobody waits for, is undone", async () => {
    server.createDelay = 1500;
    const late = await failure(provider({ openTimeout: 1 }).open(REQUEST));
    expect(late).toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringContaining("1 seconds"),
    });
    await until(() => server.sandboxes.size === 0);
    const controller = new AbortController();
    const opening = provider().open({ ...REQUEST, signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 100);
    await expect(opening).rejects.toThrow("enough");
    await until(() => server.sandboxes.size === 0);
  });

  it("one that was stopped is started when it is found again, and when it is used", async () => {
    const opened = await provider().open(REQUEST);
    await opened.sandbox.write("/root/kept.txt", "kept\n");
    await server.stop(opened.id);
    const again = await provider().reattach?.(opened.id, REQUEST);
    expect(await again?.sandbox.read("/root/kept.txt")).toMatchObject({ content: "kept\n" });
    await server.stop(opened.id);
    expect(await opened.sandbox.execute("cat kept.txt")).toMatchObject({ output: "kept\n", exitCode: 0 });
    server.sandboxes.get(opened.id)!.status = "failed";
    expect(await provider().reattach?.(opened.id, REQUEST)).toBeUndefined();
    expect(await provider().reattach?.("deepwright-none", REQUEST)).toBeUndefined();
  });

  it("a connection that breaks while a command runs is taken up again", async () => {
    const opened = await provider().open(REQUEST);
    const wait = "until [ -e go ]; do sleep 0.1; done";
    const running = opened.sandbox.execute(`echo one; ${wait}; echo two`);
    await untilRunning(machineOf(opened), wait);
    const [first] = server.sockets;
    first?.drop();
    await until(() => [...server.sockets].some((socket) => socket !== first));
    await machineOf(opened).writeFile("/root/go", Buffer.alloc(0));
    expect(await running).toMatchObject({ output: "one\ntwo\n", exitCode: 0 });
  });

  it.each<[number, string]>([
    [401, "ACCESS_DENIED"],
    [403, "ACCESS_DENIED"],
    [404, "SANDBOX_LOST"],
  ])("a command that is refused with %i is a %s", async (status, code) => {
    const opened = await provider().open(REQUEST);
    server.refuseSockets = status;
    expect(await failure(Promise.resolve(opened.sandbox.execute("true")))).toMatchObject({ code });
  });

  it("a service that does not answer holds nobody up longer than the command's time", async () => {
    const opened = await provider().open(REQUEST);
    server.isSilent = true;
    expect(await opened.sandbox.execute("true", { timeout: 1 })).toMatchObject({ exitCode: 124 });
    const controller = new AbortController();
    const running = opened.sandbox.execute("true", { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 200);
    await expect(running).rejects.toThrow("enough");
  });

  it("transfers that fail are told, and those that are slow arrive", async () => {
    const opened = await provider().open(REQUEST);
    const { sandbox } = opened;
    const upload = async () => sandbox.uploadFiles?.([["/root/a.txt", Buffer.from("a")]]);
    const isUpload = (_: string, path: string): boolean => path.endsWith("/upload");
    server.loopback.faults.add({ kind: "status", status: 503, body: {}, when: isUpload, times: 1 });
    expect(await failure(upload())).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    server.loopback.faults.add({ kind: "drop", when: isUpload, times: 1 });
    expect(await failure(upload())).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    server.loopback.faults.add({ kind: "slow", milliseconds: 500, when: isUpload, times: 1 });
    expect(await upload()).toEqual([{ path: "/root/a.txt", error: null }]);
    expect(await machineOf(opened).readFile("/root/a.txt")).toEqual(Buffer.from("a"));
    expect(await sandbox.downloadFiles?.(["/root/none.txt", "/root"])).toEqual([
      { path: "/root/none.txt", content: null, error: "file_not_found" },
      { path: "/root", content: null, error: "is_directory" },
    ]);
    await server.sandboxes.get(opened.id)?.machine.kill();
    server.sandboxes.delete(opened.id);
    expect(await failure(upload())).toMatchObject({ code: "SANDBOX_LOST" });
  });

  it("one that its owner made is used, and not stopped", async () => {
    const client = new SandboxClient({ apiKey: LANGSMITH_KEY, apiEndpoint: server.apiUrl });
    const sandbox = await client.createSandbox({ name: "mine" });
    const owned = langsmithSandbox({ sandbox, env: { MINE: "yes" } });
    expect(owned.destroy).toBeUndefined();
    expect(owned.find).toBeUndefined();
    const opened = await owned.open(REQUEST);
    expect(opened.id).toBe("mine");
    expect(await opened.sandbox.execute("echo $MINE")).toMatchObject({ output: "yes\n" });
    await opened.keepAlive?.();
    await opened.destroy();
    expect(await owned.reattach?.("other", REQUEST)).toBeUndefined();
    expect(await (await owned.reattach?.("mine", REQUEST))?.sandbox.execute("pwd")).toMatchObject({
      output: "/root\n",
    });
    await client.deleteSandbox("mine");
    expect(await failure(Promise.resolve(opened.sandbox.execute("true")))).toMatchObject({
      code: "SANDBOX_LOST",
    });
  });
});
