import {
  BedrockAgentCoreClient,
  StartCodeInterpreterSessionCommand,
} from "@aws-sdk/client-bedrock-agentcore";
import { SandboxError } from "deepwright";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { agentcoreSandbox } from "../agentcore.ts";
import type { OpenRequest } from "../provider.ts";
import { AGENTCORE_CREDENTIALS, AGENTCORE_HOME, AgentCoreServer } from "./agentcore-server-for-tests.ts";

const REQUEST: OpenRequest = { key: "thread-1", env: {} };

let server: AgentCoreServer;

beforeEach(async () => {
  server = await AgentCoreServer.start();
});

afterEach(() => server.close());

const provider = (options: Parameters<typeof agentcoreSandbox>[0] = {}) =>
  agentcoreSandbox({
    region: "us-east-1",
    credentials: AGENTCORE_CREDENTIALS,
    endpoint: server.endpoint,
    ...options,
  });

const running = (): number => [...server.sessions.values()].filter(({ status }) => status === "READY").length;

async function failure(work: Promise<unknown>): Promise<SandboxError> {
  const error = await work.then(
    (value) => new Error(`It did not fail: ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  expect(SandboxError.isInstance(error), String(error)).toBe(true);
  const text = `${(error as Error).message} ${String((error as Error).cause)} ${JSON.stringify(error)}`;
  expect(text).not.toContain(AGENTCORE_CREDENTIALS.secretAccessKey);
  return error as SandboxError;
}

describe("agentcoreSandbox", () => {
  it("reaches nobody until something is opened, and says what it is", () => {
    expect(provider()).toMatchObject({
      name: "agentcore",
      network: "open",
      workingDirectory: "/tmp/workspace",
    });
    expect(provider({ network: "none" }).network).toBe("none");
    expect(server.loopback.requests).toEqual([]);
    expect(() => provider({ network: "some" as never })).toThrow("network");
    expect(() => provider({ sessionTimeout: 10 })).toThrow("sessionTimeout");
    expect(() => provider({ workingDirectory: "here" })).toThrow("no absolute path");
  });

  it("without credentials or a region the variables are named", async () => {
    for (const name of [
      "AWS_REGION",
      "AWS_DEFAULT_REGION",
      "AWS_PROFILE",
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
    ])
      vi.stubEnv(name, undefined);
    for (const name of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) vi.stubEnv(name, "/dev/null");
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    try {
      const { endpoint } = server;
      expect(await failure(agentcoreSandbox({ endpoint }).open(REQUEST))).toMatchObject({
        code: "ACCESS_DENIED",
        message: "AgentCore needs a region. Set AWS_REGION, or pass region.",
      });
      const error = await failure(agentcoreSandbox({ endpoint, region: "us-east-1" }).open(REQUEST));
      expect(error).toMatchObject({
        code: "ACCESS_DENIED",
        message: expect.stringContaining("Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
      });
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("starts a session with a name that stands for the key and the life that was asked for", async () => {
    const opened = await provider({ codeInterpreter: "mine-1", sessionTimeout: 600 }).open(REQUEST);
    expect(server.loopback.requests[0]).toBe("PUT /code-interpreters/mine-1/sessions/start");
    expect(server.sessions.get(opened.id)?.request).toMatchObject({
      name: expect.stringMatching(/^deepwright-[0-9a-f]{32}-[0-9a-f]{16}$/),
      sessionTimeoutSeconds: 600,
    });
  });

  it.each<[string, number, string, string]>([
    ["a right that is missing", 403, "AccessDeniedException", "ACCESS_DENIED"],
    ["a quota", 402, "ServiceQuotaExceededException", "QUOTA_EXCEEDED"],
    ["too many calls", 429, "ThrottlingException", "QUOTA_EXCEEDED"],
    ["what is not valid", 400, "ValidationException", "SANDBOX_UNAVAILABLE"],
    ["a failure", 500, "InternalServerException", "SANDBOX_UNAVAILABLE"],
    ["a page of a proxy", 503, "", "SANDBOX_UNAVAILABLE"],
  ])("tells %s, and leaves nothing", async (_, status, type, code) => {
    const when = (method: string): boolean => method === "PUT";
    const headers = { "x-amzn-errortype": type };
    server.loopback.faults.add({ kind: "status", status, body: { message: "no" }, headers, when });
    expect(await failure(provider().open(REQUEST))).toMatchObject({ code });
    expect(running()).toBe(0);
  });

  it("credentials that AWS does not know are told with what to do", async () => {
    const credentials = { ...AGENTCORE_CREDENTIALS, accessKeyId: "AKIAWRONG" };
    const error = await failure(provider({ credentials }).open(REQUEST));
    expect(error).toMatchObject({
      code: "ACCESS_DENIED",
      message: expect.stringContaining("credentials of AWS"),
    });
  });

  it.each([false, true])(
    "a connection that breaks while it starts leaves nothing (after it acted: %s)",
    async (after) => {
      const when = (_: string, path: string): boolean => path.endsWith("/start");
      server.loopback.faults.add({ kind: "drop", after, when, times: 1 });
      expect(await failure(provider().open(REQUEST))).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
      await until(() => running() === 0);
    },
  );

  it("a start that takes too long, or that nobody waits for, is undone", async () => {
    server.startDelay = 1500;
    expect(await failure(provider({ openTimeout: 1 }).open(REQUEST))).toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
    });
    await until(() => running() === 0);
    const controller = new AbortController();
    const opening = provider().open({ ...REQUEST, signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 100);
    await expect(opening).rejects.toThrow("enough");
    await until(() => running() === 0);
  });

  it("finds its sessions on every page, and none that ended", async () => {
    const opened = await Promise.all([1, 2, 3].map(() => provider().open(REQUEST)));
    await provider().open({ ...REQUEST, key: "thread-2" });
    const ids = opened.map(({ id }) => id).sort();
    expect([...((await provider().find?.("thread-1")) ?? [])].sort()).toEqual(ids);
    await opened[0]?.destroy();
    expect(await provider().find?.("thread-1")).toHaveLength(2);
    expect(await provider().reattach?.(opened[0]?.id ?? "", REQUEST)).toBeUndefined();
    expect(await provider().reattach?.("01NEVER", REQUEST)).toBeUndefined();
  });

  it.each<[string, string]>([
    ["throttlingException", "QUOTA_EXCEEDED"],
    ["accessDeniedException", "ACCESS_DENIED"],
    ["internalServerException", "SANDBOX_UNAVAILABLE"],
    ["validationException", "COMMAND_FAILED"],
  ])("a command whose stream has a %s is a %s", async (type, code) => {
    const opened = await provider().open(REQUEST);
    server.streamFault = { type, message: "no" };
    expect(await failure(Promise.resolve(opened.sandbox.execute("true")))).toMatchObject({ code });
  });

  it("a connection that breaks while a command runs is told, and ends the command", async () => {
    const opened = await provider().open(REQUEST);
    const when = (_: string, path: string): boolean => path.endsWith("/invoke");
    server.loopback.faults.add({ kind: "drop", after: true, when, times: 1 });
    expect(await failure(Promise.resolve(opened.sandbox.execute("echo x")))).toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
    });
    expect(await opened.sandbox.execute("echo next")).toMatchObject({ output: "next\n" });
  });

  it("a service that does not answer holds nobody up longer than the command's time", async () => {
    const opened = await provider().open(REQUEST);
    const when = (_: string, path: string): boolean => path.endsWith("/invoke");
    server.loopback.faults.add({ kind: "hang", when });
    expect(await opened.sandbox.execute("true", { timeout: 1 })).toMatchObject({ exitCode: 124 });
    const controller = new AbortController();
    const command = opened.sandbox.execute("true", { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 200);
    await expect(command).rejects.toThrow("enough");
  });

  it("files go to their place with any name, and leave nothing where AWS writes them", async () => {
    const opened = await provider().open(REQUEST);
    const { sandbox } = opened;
    const { machine } = server.sessions.get(opened.id)!;
    const path = "/tmp/workspace/new dir/ö 'x' $y.bin";
    const bytes = Uint8Array.from({ length: 1_300_000 }, (_, index) => (index * 7) % 256);
    expect(await sandbox.uploadFiles?.([[path, bytes]])).toEqual([{ path, error: null }]);
    expect(Buffer.compare(await machine.readFile(path), bytes)).toBe(0);
    const [down] = (await sandbox.downloadFiles?.([path])) ?? [];
    expect(Buffer.compare(down?.content ?? Buffer.alloc(0), bytes)).toBe(0);
    expect(await sandbox.downloadFiles?.(["/tmp/none", "/tmp"])).toMatchObject([
      { error: "file_not_found" },
      { error: "is_directory" },
    ]);
    expect(await machine.list(AGENTCORE_HOME)).toEqual([]);
    await server.terminate(opened.id);
    expect(await failure(Promise.resolve(sandbox.downloadFiles?.([path])))).toMatchObject({
      code: "SANDBOX_LOST",
    });
  });

  it("one that its owner started is used, and not stopped", async () => {
    const client = new BedrockAgentCoreClient({
      region: "us-east-1",
      credentials: AGENTCORE_CREDENTIALS,
      endpoint: server.endpoint,
    });
    const input = { codeInterpreterIdentifier: "aws.codeinterpreter.v1", name: "mine" };
    const { sessionId = "" } = await client.send(new StartCodeInterpreterSessionCommand(input));
    const owned = agentcoreSandbox({ sandbox: { client, sessionId }, env: { MINE: "yes" }, network: "none" });
    expect(owned).toMatchObject({ network: "none" });
    expect(owned.destroy).toBeUndefined();
    const opened = await owned.open(REQUEST);
    expect(await opened.sandbox.execute("echo $MINE; pwd")).toMatchObject({
      output: "yes\n/tmp/workspace\n",
    });
    await opened.destroy();
    expect(running()).toBe(1);
    expect(await owned.reattach?.("other", REQUEST)).toBeUndefined();
    await server.terminate(sessionId);
    expect(await failure(Promise.resolve(opened.sandbox.execute("true")))).toMatchObject({
      code: "SANDBOX_LOST",
    });
    client.destroy();
  });
});
