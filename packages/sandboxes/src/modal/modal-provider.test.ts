import { SandboxError } from "deepwright";
import { ModalClient } from "modal";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { createSandbox } from "../index.ts";
import { modalSandbox } from "../modal.ts";
import type { OpenedSandbox } from "../provider.ts";
import type { MachineForTests } from "../remote/machine-for-tests.ts";
import { untilEnded, untilRunning } from "../remote/processes-for-tests.ts";
import type { ModalSandboxOptions } from "./modal-options.ts";
import { ModalServer } from "./server-for-tests.ts";
import { grpc } from "./wire-for-tests.ts";

const { status } = grpc;
let server: ModalServer;
const opened: OpenedSandbox[] = [];

beforeAll(async () => {
  server = await ModalServer.start();
  vi.stubEnv("MODAL_SERVER_URL", server.url);
  vi.stubEnv("MODAL_LOGLEVEL", "error");
  for (const name of ["MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET", "MODAL_PROFILE"]) vi.stubEnv(name, "");
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.destroy();
  await until(() => server.running().length === 0);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

function provider(options: ModalSandboxOptions = {}) {
  return modalSandbox({ tokenId: server.tokenId, tokenSecret: server.tokenSecret, ...options });
}

async function open(options?: ModalSandboxOptions): Promise<OpenedSandbox> {
  const made = await provider(options).open({ key: "key", env: {} });
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
const readings = () => server.calls.filter((method) => method === "TaskExecStdioRead").length;
const createdWith = () => [...server.sandboxes.values()].at(-1)?.request;

test("what is not said is closed and bounded: no network, an end after a day and after 20 idle minutes", async () => {
  const { id } = await open();
  const { definition, tags, secretSources } = createdWith();
  expect(definition.networkAccess.networkAccessType).toBe(2);
  expect(definition).toMatchObject({ timeoutSecs: 86_400, idleTimeoutSecs: 1200 });
  expect(tags).toContainEqual({ tagName: "deepwright-lease", tagValue: "key" });
  expect(secretSources).toEqual([]);
  expect(server.asked).toEqual({ app: "deepwright", image: ["FROM python:3.13-slim"] });
  expect(server.running()).toEqual([id]);
  expect(provider()).toMatchObject({ name: "modal", network: "none", workingDirectory: "/workspace" });
});

test("image, resources, network, labels and time are handed to Modal", async () => {
  const options: ModalSandboxOptions = {
    app: "other",
    image: "alpine:3.22",
    network: { allow: ["pypi.org", "*.pythonhosted.org"] },
    lifetime: 600,
    labels: { team: "blue" },
    create: { cpu: 0.5, memoryMiB: 512 },
  };
  opened.push(await provider(options).open({ key: "key", env: {}, ttl: 90 }));
  const { definition, tags } = createdWith();
  expect(definition).toMatchObject({ timeoutSecs: 600, idleTimeoutSecs: 90 });
  expect(definition.resources).toMatchObject({ milliCpu: 500, memoryMb: 512 });
  expect(definition.networkAccess).toMatchObject({
    networkAccessType: 3,
    allowedDomains: ["pypi.org", "*.pythonhosted.org"],
  });
  expect(tags).toContainEqual({ tagName: "team", tagValue: "blue" });
  expect(server.asked).toEqual({ app: "other", image: ["FROM alpine:3.22"] });
  expect(provider(options).network).toBe("allow-list");
});

test("an open network is said to be open", async () => {
  await open({ network: "open" });
  expect(createdWith().definition.networkAccess.networkAccessType).toBe(1);
  expect(provider({ network: "open" }).network).toBe("open");
});

test.each([
  [{ network: { allow: ["pypi.org:443"] } }],
  [{ network: "closed" as never }],
  [{ workingDirectory: "workspace" }],
  [{ lifetime: 90_000 }],
])("%j is refused before anything is made", (options) => {
  expect(() => modalSandbox(options)).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
});

test("SB-10 a list that allows everything is refused, an empty one allows nothing", async () => {
  expect(() => provider({ network: { allow: ["*"] } })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION" }),
  );
  await open({ network: { allow: [] } });
  expect(createdWith().definition.networkAccess.networkAccessType).toBe(2);
});

test("a command of more than 64 KiB, which Modal takes as no argument, is run", async () => {
  const { sandbox } = await open();
  const { output } = await sandbox.execute(`x=${"0123456789".repeat(7000)}; echo \${#x}`);
  expect(output).toBe("70000\n");
});

test("a token that is wrong is ACCESS_DENIED, and no message has it", async () => {
  const error = await failureOf(() => open({ tokenSecret: "as-wrong-secret" }));
  expect(error.code).toBe("ACCESS_DENIED");
  expect(error.message).toContain("MODAL_TOKEN_ID");
  expect(`${error.message} ${String(error.cause)} ${error.stack}`).not.toMatch(
    /as-wrong-secret|ak-of-the-test/,
  );
});

test("no token at all is ACCESS_DENIED", async () => {
  const error = await failureOf(() =>
    modalSandbox({ tokenId: "", tokenSecret: "" }).open({ key: "k", env: {} }),
  );
  expect(error).toMatchObject({ code: "ACCESS_DENIED", message: expect.stringContaining("MODAL_TOKEN_ID") });
});

test("a limit of the account is QUOTA_EXCEEDED", async () => {
  server.fail("SandboxCreateV2", { code: status.RESOURCE_EXHAUSTED, details: "Sandbox limit reached" });
  expect((await failureOf(() => open())).code).toBe("QUOTA_EXCEEDED");
});

test("an image that cannot be built says so", async () => {
  server.fail("ImageGetOrCreate", { code: status.INVALID_ARGUMENT, details: "no such image" });
  const error = await failureOf(() => open({ image: "no/such:image" }));
  expect(error.message).toMatch(/no\/such:image.*no such image/);
});

test("a failure that may have made a sandbox leaves none", async () => {
  server.fail("SandboxCreateV2", { code: status.INTERNAL, after: true, times: 4 });
  const error = await failureOf(() => open());
  expect(error.code).toBe("SANDBOX_UNAVAILABLE");
  expect(createdWith()).toBeDefined();
});

test("a failure that passes is not noticed", async () => {
  server.fail("SandboxCreateV2", { code: status.UNAVAILABLE });
  const { sandbox } = await open();
  server.fail("TaskExecStart", { code: status.UNAVAILABLE });
  expect((await sandbox.execute("echo hello")).output).toBe("hello\n");
});

test("a creation that takes too long is given up, and what comes later is ended", async () => {
  server.fail("SandboxCreateV2", { delay: 1500 });
  const error = await failureOf(() => open({ openTimeout: 0.5 }));
  expect(error).toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringContaining("openTimeout"),
  });
  expect(createdWith()).toBeDefined();
});

test("answers that are slow are waited for", async () => {
  const { sandbox } = await open();
  server.fail("TaskExecStart", { delay: 1500 });
  expect((await sandbox.execute("echo hello")).output).toBe("hello\n");
});

test("a command whose start is never answered is over by our clock", async () => {
  const { sandbox } = await open();
  server.fail("TaskExecStart", { delay: Number.POSITIVE_INFINITY });
  expect((await sandbox.execute("echo hello", { timeout: 1 })).exitCode).toBe(124);
});

test("a connection that breaks while a command runs does not break the command", async () => {
  const { sandbox, id } = await open();
  const wait = "until [ -e go ]; do sleep 0.1; done";
  const idle = readings();
  const running = sandbox.execute(`echo begun; ${wait}; echo done`);
  await untilRunning(machineOf(id), wait);
  await until(() => readings() > idle);
  const before = readings();
  server.drop();
  await until(() => readings() > before);
  await machineOf(id).writeFile("/workspace/go", Buffer.alloc(0));
  expect(await running).toMatchObject({ output: "begun\ndone\n", exitCode: 0 });
});

test("a failure of the service during a command is SANDBOX_UNAVAILABLE, and the command is ended", async () => {
  const { sandbox, id } = await open();
  server.fail("TaskExecStdioRead", { code: status.DATA_LOSS, delay: 500 });
  const error = await failureOf(() => sandbox.execute("sleep 6161"));
  expect(error.code).toBe("SANDBOX_UNAVAILABLE");
  await untilEnded(machineOf(id), "sleep 6161");
});

test("R-38 a sandbox that ends while a command runs is SANDBOX_LOST, and stays so", async () => {
  const { sandbox, id } = await open();
  const running = failureOf(() => sandbox.execute("sleep 6162", { timeout: 600 }));
  await untilRunning(machineOf(id), "sleep 6162");
  await server.end(id);
  expect((await running).code).toBe("SANDBOX_LOST");
  expect((await failureOf(() => sandbox.execute("true"))).code).toBe("SANDBOX_LOST");
  expect((await failureOf(() => sandbox.write("/workspace/x", "x"))).code).toBe("SANDBOX_LOST");
});

test("a sandbox that somebody owns is used, and never ended", async () => {
  const client = new ModalClient({ tokenId: server.tokenId, tokenSecret: server.tokenSecret });
  const app = await client.apps.fromName("mine", { createIfMissing: true });
  const mine = await client.sandboxes.create(app, client.images.fromRegistry("debian:stable-slim"));
  const owned = modalSandbox({ sandbox: mine, env: { WHO: "owner" } });
  const lease = await owned.open({ key: "key", env: {} });
  expect(await lease.sandbox.execute('pwd; echo "$WHO"')).toMatchObject({ output: "/workspace\nowner\n" });
  await lease.detach();
  await lease.destroy();
  expect(server.running()).toEqual([mine.sandboxId]);
  expect((await owned.reattach?.(mine.sandboxId, { key: "key", env: {} }))?.id).toBe(mine.sandboxId);
  expect(await owned.reattach?.("sb-other", { key: "key", env: {} })).toBeUndefined();
  expect(owned.network).toBe("open");
  await mine.terminate();
});

test("a client that somebody owns is used", async () => {
  const client = new ModalClient({ tokenId: server.tokenId, tokenSecret: server.tokenSecret });
  const { sandbox } = await open({ client, tokenSecret: "not used" });
  expect((await sandbox.execute("echo hello")).output).toBe("hello\n");
});

test("a lease of createSandbox ends the sandbox when it is released", async () => {
  const source = createSandbox({ provider: provider() });
  const lease = await source.lease("thread");
  expect((await lease.sandbox.execute("echo hello")).output).toBe("hello\n");
  expect(server.running()).toHaveLength(1);
  await lease.release();
  await source.close();
});
