import { inspect } from "node:util";
import { RunloopSDK } from "@runloop/api-client";
import { SandboxError } from "deepwright";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { LEASE_LABEL, type OpenedSandbox, type OpenRequest } from "../provider.ts";
import type { MachineForTests } from "../remote/machine-for-tests.ts";
import { untilEnded, untilRunning } from "../remote/processes-for-tests.ts";
import { runloopSandbox } from "../runloop.ts";
import type { RunloopSandboxOptions } from "./runloop-options.ts";
import {
  RUNLOOP_HOME,
  RUNLOOP_KEY,
  type RunloopServer,
  startRunloopServer,
} from "./runloop-server-for-tests.ts";

let server: RunloopServer;
const opened: OpenedSandbox[] = [];

beforeAll(async () => {
  server = await startRunloopServer();
  vi.stubEnv("RUNLOOP_API_KEY", "");
});
afterEach(async () => {
  server.loopback.faults.clear();
  for (const each of opened.splice(0)) await each.destroy();
  await eventually(() => expect(running()).toEqual([]));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

function running(): readonly string[] {
  return [...server.devboxes.values()].filter(({ status }) => status !== "shutdown").map(({ id }) => id);
}

function provider(options: RunloopSandboxOptions = {}) {
  return runloopSandbox({ apiKey: RUNLOOP_KEY, baseUrl: server.baseUrl, ...options });
}

async function open(
  options?: RunloopSandboxOptions,
  request: Partial<OpenRequest> = {},
): Promise<OpenedSandbox> {
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

const machineOf = ({ id }: OpenedSandbox): MachineForTests => server.devboxes.get(id)!.machine;
const createdWith = () => [...server.devboxes.values()].at(-1)?.request ?? {};
const CREATE = (method: string, path: string) => method === "POST" && path === "/v1/devboxes";
const EXECUTE = (_: string, path: string) => path.endsWith("/execute");
/** So that the SDK does not try again by itself. */
const FINAL = { "x-should-retry": "false" };

describe("what Runloop is asked for", () => {
  test("what is not said is bounded: an end after an hour without use", async () => {
    await open();
    expect(createdWith()).toMatchObject({
      metadata: { [LEASE_LABEL]: "key" },
      launch_parameters: { lifecycle: { after_idle: { idle_time_seconds: 3600, on_idle: "shutdown" } } },
    });
    expect(provider()).toMatchObject({ name: "runloop", network: "open", workingDirectory: RUNLOOP_HOME });
  });

  test("a time without use, a blueprint, labels, a policy and sizes arrive", async () => {
    await open(
      {
        blueprintName: "node",
        labels: { team: "blue" },
        onIdle: "suspend",
        network: { policy: "npol_1", reach: "none" },
        create: { launch_parameters: { resource_size_request: "SMALL" } },
      },
      { ttl: 90 },
    );
    expect(createdWith()).toMatchObject({
      blueprint_name: "node",
      metadata: { team: "blue", [LEASE_LABEL]: "key" },
      launch_parameters: {
        lifecycle: { after_idle: { idle_time_seconds: 90, on_idle: "suspend" } },
        network_policy_id: "npol_1",
        resource_size_request: "SMALL",
      },
    });
    expect(provider({ network: { policy: "npol_1", reach: "none" } }).network).toBe("none");
    await open({ snapshotId: "snp_1" });
    expect(createdWith().snapshot_id).toBe("snp_1");
  });

  test("options that contradict each other or mean nothing are refused before anything is reached", () => {
    const requests = server.loopback.requests.length;
    expect(() => provider({ blueprintId: "a", snapshotId: "b" })).toThrow("one is enough");
    expect(() => provider({ network: "none" as never })).toThrow("network policy");
    expect(() => provider({ workingDirectory: "relative" })).toThrow("workingDirectory");
    expect(() => provider({ idleTimeout: -1 })).toThrow("idleTimeout");
    expect(server.loopback.requests.length).toBe(requests);
  });

  test("it is told that it is still needed", async () => {
    const made = await open();
    await made.keepAlive?.();
    expect(server.devboxes.get(made.id)?.keptAlive).toBe(1);
  });
});

describe("a devbox that is suspended", () => {
  test("is resumed by the next command, with its files", async () => {
    const made = await open();
    await made.sandbox.execute("echo kept > note.txt");
    await server.suspend(made.id);
    expect(await made.sandbox.execute("cat note.txt")).toMatchObject({ output: "kept\n", exitCode: 0 });
  });

  test("is resumed once for operations that come at the same time", async () => {
    const made = await open();
    await made.sandbox.execute("echo kept > note.txt");
    await server.suspend(made.id);
    const path = `${RUNLOOP_HOME}/note.txt`;
    const [command, files] = await Promise.all([
      made.sandbox.execute("cat note.txt"),
      made.sandbox.downloadFiles?.([path, path]),
    ]);
    expect(command.output).toBe("kept\n");
    expect(files?.map(({ error }) => error)).toEqual([null, null]);
    const resumed = server.loopback.requests.filter((line) => line === `POST /v1/devboxes/${made.id}/resume`);
    expect(resumed.length).toBe(1);
  });

  test("is resumed when it is found again", async () => {
    const made = await open();
    await server.suspend(made.id);
    const again = await provider().reattach?.(made.id, { key: "key", env: {} });
    expect([again?.id, server.devboxes.get(made.id)?.status]).toEqual([made.id, "running"]);
  });
});

describe("a service that fails", () => {
  test("a wrong key is ACCESS_DENIED, and no key is shown anywhere", async () => {
    const key = "ak_wrongwrongwrongwrongwrong";
    const error = await failureOf(() => open({ apiKey: key }));
    expect(error.code).toBe("ACCESS_DENIED");
    expect(error.message).toContain("RUNLOOP_API_KEY");
    expect(inspect(error, { depth: 10 })).not.toContain(key);
  });

  test("no key at all is said before anything is reached", async () => {
    const requests = server.loopback.requests.length;
    const error = await failureOf(() => open({ apiKey: undefined }));
    expect([error.code, server.loopback.requests.length]).toEqual(["ACCESS_DENIED", requests]);
  });

  test.each([
    [429, "Too many requests", "QUOTA_EXCEEDED"],
    [400, "Devbox quota reached", "QUOTA_EXCEEDED"],
    [403, "This key is restricted", "ACCESS_DENIED"],
    [404, "Blueprint not found", "SANDBOX_UNAVAILABLE"],
    [500, "Internal server error", "SANDBOX_UNAVAILABLE"],
  ])("a creation that is answered %i '%s' is %s", async (status, message, code) => {
    server.loopback.faults.add({ kind: "status", when: CREATE, status, body: { message }, headers: FINAL });
    const error = await failureOf(() => open());
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  test("a failure that passes is tried again", async () => {
    server.loopback.faults.add({
      kind: "status",
      when: CREATE,
      status: 503,
      times: 1,
      headers: { "retry-after-ms": "10" },
    });
    expect((await (await open()).sandbox.execute("echo there")).output).toBe("there\n");
  });

  test("creations whose answers are lost leave nothing", async () => {
    server.loopback.faults.add({ kind: "drop", after: true, when: CREATE });
    expect((await failureOf(() => open())).code).toBe("SANDBOX_UNAVAILABLE");
  });

  test("a creation that is aborted leaves nothing, and throws the reason", async () => {
    server.loopback.faults.add({ kind: "slow", milliseconds: 800, when: CREATE });
    const reason = new Error("enough");
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 200);
    await expect(open({}, { signal: controller.signal })).rejects.toBe(reason);
  });

  test("a devbox that does not start is ended", async () => {
    const wait = (_: string, path: string) => path.endsWith("/wait_for_status");
    server.loopback.faults.add({ kind: "status", when: wait, status: 500, body: { message: "no host" } });
    expect((await failureOf(() => open())).code).toBe("SANDBOX_UNAVAILABLE");
  });

  test("nobody there at all is SANDBOX_UNAVAILABLE", async () => {
    const error = await failureOf(() => open({ baseUrl: "http://127.0.0.1:9" }));
    expect(error.code).toBe("SANDBOX_UNAVAILABLE");
  });
});

describe("a service that fails while a devbox is there", () => {
  test("a connection that breaks is made again, and the command runs once", async () => {
    const made = await open();
    server.loopback.faults.add({ kind: "drop", after: true, when: EXECUTE, times: 1 });
    expect((await made.sandbox.execute("echo 1 >> count.txt; echo done")).output).toBe("done\n");
    expect((await made.sandbox.execute("cat count.txt")).output).toBe("1\n");
  });

  test("connections that keep breaking end the command", async () => {
    const made = await open();
    server.loopback.faults.add({ kind: "drop", after: true, when: EXECUTE, times: 3 });
    const error = await failureOf(() => made.sandbox.execute("sleep 6163 & sleep 6163"));
    expect(error.code).toBe("SANDBOX_UNAVAILABLE");
    await untilEnded(machineOf(made), "sleep 6163");
  });

  test("an answer that never comes is a time-out by our clock, and the command is ended", async () => {
    const made = await open();
    server.loopback.faults.add({ kind: "hang", when: EXECUTE, times: 1 });
    const { exitCode } = await made.sandbox.execute("sleep 6161 & sleep 6161", { timeout: 1 });
    expect(exitCode).toBe(124);
    await untilEnded(machineOf(made), "sleep 6161");
  });

  test("a slow answer is an answer", async () => {
    const made = await open();
    server.loopback.faults.add({ kind: "slow", milliseconds: 1500, when: EXECUTE, times: 1 });
    expect(await made.sandbox.execute("echo late", { timeout: 600 })).toMatchObject({ output: "late\n" });
  });

  test("output that Runloop cuts is fetched whole", async () => {
    const made = await open();
    const { output, truncated } = await made.sandbox.execute("seq 1 12000");
    expect([output.split("\n").length, truncated]).toEqual([12_001, false]);
  });

  test.each([
    [401, "ACCESS_DENIED"],
    [429, "QUOTA_EXCEEDED"],
    [422, "COMMAND_FAILED"],
    [500, "SANDBOX_UNAVAILABLE"],
    [502, "SANDBOX_UNAVAILABLE"],
  ])("a command that is answered %i is %s, and the next one runs", async (status, code) => {
    const made = await open();
    server.loopback.faults.add({
      kind: "status",
      status,
      when: EXECUTE,
      times: 1,
      body: { message: "no" },
      headers: FINAL,
    });
    expect((await failureOf(() => made.sandbox.execute("true"))).code).toBe(code);
    expect((await made.sandbox.execute("true")).exitCode).toBe(0);
  });

  test("a devbox that ends meanwhile is SANDBOX_LOST for commands and files, soon", async () => {
    const made = await open();
    const command = failureOf(() => made.sandbox.execute("sleep 6162", { timeout: 600 }));
    await untilRunning(machineOf(made), "sleep 6162");
    await provider().destroy?.(made.id);
    expect((await command).code).toBe("SANDBOX_LOST");
    for (const act of [
      () => made.sandbox.execute("true"),
      () => made.sandbox.readRaw(`${RUNLOOP_HOME}/x`),
      () => made.sandbox.uploadFiles?.([[`${RUNLOOP_HOME}/x`, new Uint8Array()]]),
      () => made.sandbox.downloadFiles?.([`${RUNLOOP_HOME}/x`]),
    ])
      expect((await failureOf(act)).code).toBe("SANDBOX_LOST");
  });
});

test("files come and go byte for byte under any name, and what is in the way is said", async () => {
  const { sandbox } = await open();
  await sandbox.execute("mkdir 'a directory'; echo x > file");
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7919) & 0xff);
  const names = ["plain.bin", "deep/er/plain.bin", 'it\'s "odd" €.bin', "-rf", "empty"];
  const up = await sandbox.uploadFiles?.(
    names.map((name) => [`${RUNLOOP_HOME}/${name}`, name === "empty" ? new Uint8Array() : bytes] as const),
  );
  expect(up?.map(({ error }) => error)).toEqual(names.map(() => null));
  const down = await sandbox.downloadFiles?.(names.map((name) => `${RUNLOOP_HOME}/${name}`));
  for (const [index, name] of names.entries()) {
    const expected = name === "empty" ? Buffer.alloc(0) : Buffer.from(bytes);
    expect(Buffer.from(down?.[index]?.content ?? "missing").equals(expected)).toBe(true);
  }
  const bad = ["a directory", "file/below", "none"].map((name) => `${RUNLOOP_HOME}/${name}`);
  const refusedUp = await sandbox.uploadFiles?.(bad.slice(0, 2).map((path) => [path, bytes] as const));
  expect(refusedUp?.map(({ error }) => error)).toEqual(["is_directory", "parent_not_found"]);
  const refusedDown = await sandbox.downloadFiles?.(bad);
  expect(refusedDown?.map(({ error }) => error)).toEqual([
    "is_directory",
    "file_not_found",
    "file_not_found",
  ]);
});

test("a devbox that its owner made is used, and left as it is", async () => {
  const client = new RunloopSDK({ bearerToken: RUNLOOP_KEY, baseURL: server.baseUrl, http2: false });
  const { id } = await client.api.devboxes.create({});
  const sandbox = client.devbox.fromId(id);
  await sandbox.awaitRunning();
  const owned = runloopSandbox({ sandbox, env: { OWN: "1" } });
  expect([owned.name, owned.network, owned.destroy]).toEqual(["runloop", "open", undefined]);
  const made = await owned.open({ key: "key", env: { LEASE: "2" } });
  expect((await made.sandbox.execute('echo "$OWN$LEASE"; pwd')).output).toBe(`12\n${RUNLOOP_HOME}\n`);
  await made.destroy();
  await made.destroy();
  expect(server.devboxes.get(id)?.status).toBe("running");
  expect((await owned.reattach?.(id, { key: "key", env: {} }))?.id).toBe(id);
  expect(await owned.reattach?.("another", { key: "key", env: {} })).toBeUndefined();
  await sandbox.shutdown();
});

test("a client that is handed over is used", async () => {
  const client = new RunloopSDK({ bearerToken: RUNLOOP_KEY, baseURL: server.baseUrl, http2: false });
  const made = await open({ client, apiKey: undefined });
  expect((await made.sandbox.execute("echo hello")).output).toBe("hello\n");
});
