import { SandboxError } from "deepwright";
import { Sandbox } from "e2b";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { e2bSandbox } from "../e2b.ts";
import { createSandbox } from "../index.ts";
import type { OpenedSandbox, OpenRequest } from "../provider.ts";
import type { MachineForTests } from "../remote/machine-for-tests.ts";
import { untilEnded, untilRunning } from "../remote/processes-for-tests.ts";
import type { E2bSandboxOptions } from "./e2b-options.ts";
import { E2bServer } from "./server-for-tests.ts";

let server: E2bServer;
const opened: OpenedSandbox[] = [];

beforeAll(async () => {
  server = await E2bServer.start();
  vi.stubEnv("E2B_API_KEY", "");
});
afterEach(async () => {
  server.loopback.faults.clear();
  for (const each of opened.splice(0)) await each.destroy();
  await until(() => server.running().length === 0);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

function provider(options: E2bSandboxOptions = {}) {
  return e2bSandbox({ apiKey: server.apiKey, apiUrl: server.url, sandboxUrl: server.url, ...options });
}

async function open(options?: E2bSandboxOptions, request: Partial<OpenRequest> = {}): Promise<OpenedSandbox> {
  const made = await provider(options).open({ key: "key", env: {}, ...request });
  opened.push(made);
  return made;
}

async function failureOf(act: () => unknown): Promise<SandboxError> {
  try {
    await act();
  } catch (error) {
    if (SandboxError.isInstance(error)) return error;
    throw error;
  }
  throw new Error("It did not fail.");
}

const machineOf = (id: string): MachineForTests => server.sandboxes.get(id)!.machine;
const createdWith = () => [...server.sandboxes.values()].at(-1)?.request;
const to = (wanted: string) => (method: string, path: string) => `${method} ${path}` === wanted;
const CREATE = to("POST /v2/sandboxes");
const START = to("POST /process.Process/Start");

test("what is not said is closed and bounded: no network, an end after 20 minutes without use", async () => {
  await open();
  const { templateID, allow_internet_access, timeout, metadata, envVars } = createdWith();
  expect({ templateID, allow_internet_access, timeout, envVars }).toEqual({
    templateID: "base",
    allow_internet_access: false,
    timeout: 1200,
    envVars: undefined,
  });
  expect(metadata).toMatchObject({ "deepwright-lease": "key" });
  expect(provider()).toMatchObject({ name: "e2b", network: "none", workingDirectory: "/home/user" });
});

test("template, network, labels, user and time are handed to E2B", async () => {
  const options: E2bSandboxOptions = {
    template: "mine",
    network: { allow: ["pypi.org", "*.pythonhosted.org"] },
    labels: { team: "blue" },
    user: "root",
  };
  const { sandbox } = await open(options, { ttl: 400 });
  expect(createdWith()).toMatchObject({
    templateID: "mine",
    timeout: 400,
    network: { allowOut: ["pypi.org", "*.pythonhosted.org"], denyOut: ["0.0.0.0/0"] },
    metadata: { team: "blue" },
  });
  await sandbox.execute("true");
  expect(server.starts.at(-1)?.user).toBe("root");
  expect(provider(options).network).toBe("allow-list");
});

test("an open network is said to be open", async () => {
  await open({ network: "open" });
  expect(createdWith().allow_internet_access).toBe(true);
  expect(provider({ network: "open" }).network).toBe("open");
});

test("SB-10 a list that allows everything is refused, an empty one allows nothing", async () => {
  expect(() => provider({ network: { allow: ["*"] } })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION" }),
  );
  await open({ network: { allow: [] } });
  expect(createdWith().allow_internet_access).toBe(false);
});

test("a sandbox lives longer than the command it runs, and its whole time when it is told so", async () => {
  const { sandbox, keepAlive, id } = await open({}, { ttl: 200 });
  const place = server.sandboxes.get(id)!;
  const left = () => (place.endsAt - Date.now()) / 1000;
  await sandbox.execute("true", { timeout: 300 });
  expect(left()).toBeGreaterThan(300);
  await keepAlive?.();
  expect(left()).toBeLessThanOrEqual(200);
});

test("a key that is wrong is ACCESS_DENIED, and no message has it", async () => {
  const apiKey = "e2b_ffffffffffffffffffffffffffffffffffffffff";
  const error = await failureOf(() => open({ apiKey }));
  expect(error.code).toBe("ACCESS_DENIED");
  expect(error.message).toContain("E2B_API_KEY");
  expect(`${error.message} ${String(error.cause)} ${error.stack}`).not.toContain(apiKey);
});

test("no key at all is ACCESS_DENIED", async () => {
  const error = await failureOf(() => open({ apiKey: undefined }));
  expect(error).toMatchObject({ code: "ACCESS_DENIED", message: expect.stringContaining("E2B_API_KEY") });
});

test.each([
  [429, "QUOTA_EXCEEDED"],
  [402, "QUOTA_EXCEEDED"],
  [403, "ACCESS_DENIED"],
  [500, "SANDBOX_UNAVAILABLE"],
  [503, "SANDBOX_UNAVAILABLE"],
])("the answer %i to a creation is %s", async (status, code) => {
  server.loopback.faults.add({ kind: "status", status, body: { code: status, message: "no" }, when: CREATE });
  expect((await failureOf(() => open())).code).toBe(code);
});

test("a creation whose answer is lost leaves no sandbox", async () => {
  server.loopback.faults.add({ kind: "drop", after: true, when: CREATE });
  expect((await failureOf(() => open())).code).toBe("SANDBOX_UNAVAILABLE");
  expect(createdWith()).toBeDefined();
});

test("a creation that is never answered is given up, and what was made is ended", async () => {
  server.loopback.faults.add({ kind: "hang", when: CREATE });
  const error = await failureOf(() => open({ openTimeout: 1 }));
  expect(error.code).toBe("SANDBOX_UNAVAILABLE");
});

test("answers that are slow are waited for", async () => {
  const { sandbox } = await open();
  server.loopback.faults.add({ kind: "slow", milliseconds: 1500, when: START });
  expect((await sandbox.execute("echo hello")).output).toBe("hello\n");
});

test("a command whose start is never answered is over by our clock", async () => {
  const { sandbox } = await open();
  server.loopback.faults.add({ kind: "slow", milliseconds: 60_000, when: START });
  expect((await sandbox.execute("echo hello", { timeout: 1 })).exitCode).toBe(124);
});

test("a connection that breaks while a command runs does not break the command", async () => {
  const { sandbox, id } = await open();
  const place = server.sandboxes.get(id)!;
  const wait = "until [ -e go ]; do sleep 0.1; done";
  const before = place.streams;
  const running = sandbox.execute(`echo begun; ${wait}; echo done`);
  await untilRunning(place.machine, wait);
  for (const streams of [1, 2]) {
    await until(() => place.streams === before + streams);
    server.drop();
  }
  await until(() => place.streams === before + 3);
  await place.machine.writeFile("/home/user/go", Buffer.alloc(0));
  expect(await running).toMatchObject({ output: "begun\ndone\n", exitCode: 0 });
  const again = server.loopback.requests.filter((request) => request.endsWith("Process/Connect"));
  expect(again).toHaveLength(2);
});

test.each(["POST /files", "GET /files"])("a connection that breaks at %s is made again", async (request) => {
  const { sandbox } = await open();
  const bytes = Uint8Array.of(0, 255, 10);
  server.loopback.faults.add({ kind: "drop", times: 1, when: to(request) });
  expect(await sandbox.uploadFiles?.([["/home/user/x", bytes]])).toEqual([
    { path: "/home/user/x", error: null },
  ]);
  const [down] = (await sandbox.downloadFiles?.(["/home/user/x"])) ?? [];
  expect(down?.content && Uint8Array.from(down.content)).toEqual(bytes);
});

test("a command that cannot be reached any more is SANDBOX_UNAVAILABLE, and is ended", async () => {
  const { sandbox, id } = await open();
  const running = failureOf(() => sandbox.execute("sleep 6161", { timeout: 600 }));
  await untilRunning(machineOf(id), "sleep 6161");
  const status = { kind: "status", status: 500, body: { code: "internal", message: "no" } } as const;
  server.loopback.faults.add({ ...status, when: to("POST /process.Process/Connect") });
  server.drop();
  expect((await running).code).toBe("SANDBOX_UNAVAILABLE");
  await untilEnded(machineOf(id), "sleep 6161");
});

test("R-38 a sandbox that ends while a command runs is SANDBOX_LOST, and stays so", async () => {
  const { sandbox, id } = await open();
  const running = failureOf(() => sandbox.execute("sleep 6162", { timeout: 600 }));
  await untilRunning(machineOf(id), "sleep 6162");
  await server.end(id);
  expect((await running).code).toBe("SANDBOX_LOST");
  expect((await failureOf(() => sandbox.execute("true"))).code).toBe("SANDBOX_LOST");
  expect((await failureOf(() => sandbox.write("/home/user/x", "x"))).code).toBe("SANDBOX_LOST");
});

test("a sandbox that somebody owns is used, and never ended", async () => {
  const connection = { apiKey: server.apiKey, apiUrl: server.url, sandboxUrl: server.url };
  const mine = await Sandbox.create({ ...connection, timeoutMs: 3_600_000 });
  const owned = e2bSandbox({ sandbox: mine, env: { WHO: "owner" } });
  const lease = await owned.open({ key: "key", env: {} });
  const before = server.sandboxes.get(mine.sandboxId)?.endsAt;
  expect(await lease.sandbox.execute('pwd; echo "$WHO"')).toMatchObject({ output: "/home/user\nowner\n" });
  await lease.detach();
  await lease.destroy();
  expect(server.running()).toEqual([mine.sandboxId]);
  expect(server.sandboxes.get(mine.sandboxId)?.endsAt).toBe(before);
  expect((await owned.reattach?.(mine.sandboxId, { key: "key", env: {} }))?.id).toBe(mine.sandboxId);
  expect(await owned.reattach?.("other", { key: "key", env: {} })).toBeUndefined();
  expect(owned.network).toBe("open");
  await mine.kill();
});

test("a lease of createSandbox ends the sandbox when it is released", async () => {
  const source = createSandbox({ provider: provider() });
  const lease = await source.lease("thread");
  expect((await lease.sandbox.execute("echo hello")).output).toBe("hello\n");
  expect(server.running()).toHaveLength(1);
  await lease.release();
  await source.close();
});
