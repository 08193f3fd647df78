import { inspect } from "node:util";
import { Daytona } from "@daytonaio/sdk";
import { SandboxError } from "deepwright";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "../../../../scripts/test-time.ts";
import { daytonaSandbox } from "../daytona.ts";
import { LEASE_LABEL, type OpenedSandbox, type OpenRequest } from "../provider.ts";
import type { MachineForTests } from "../remote/machine-for-tests.ts";
import { untilEnded, untilRunning } from "../remote/processes-for-tests.ts";
import type { DaytonaSandboxOptions } from "./daytona-options.ts";
import {
  DAYTONA_HOME,
  DAYTONA_KEY,
  type DaytonaServer,
  startDaytonaServer,
} from "./daytona-server-for-tests.ts";

let server: DaytonaServer;
const opened: OpenedSandbox[] = [];

beforeAll(async () => {
  server = await startDaytonaServer();
  vi.stubEnv("DAYTONA_API_KEY", "");
});
afterEach(async () => {
  server.loopback.faults.clear();
  for (const each of opened.splice(0)) await each.destroy();
  await eventually(() => expect([...server.sandboxes.keys()]).toEqual([]));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await server.close();
});

function provider(options: DaytonaSandboxOptions = {}) {
  return daytonaSandbox({ apiKey: DAYTONA_KEY, apiUrl: server.apiUrl, target: "us", ...options });
}

async function open(
  options?: DaytonaSandboxOptions,
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

const machineOf = ({ id }: OpenedSandbox): MachineForTests => server.sandboxes.get(id)!.machine;
const createdWith = () => [...server.sandboxes.values()].at(-1)?.request ?? {};
const CREATE = (method: string, path: string) => method === "POST" && path === "/api/sandbox";
const EXECUTE = (_: string, path: string) => path.endsWith("/process/execute");

describe("what Daytona is asked for", () => {
  test("what is not said is closed and bounded: no network, stopped after 15 minutes without use", async () => {
    await open();
    expect(createdWith()).toMatchObject({
      networkBlockAll: true,
      autoStopInterval: 15,
      labels: { [LEASE_LABEL]: "key" },
    });
    expect(createdWith().autoDeleteInterval).toBeUndefined();
    expect(provider()).toMatchObject({ name: "daytona", network: "none", workingDirectory: DAYTONA_HOME });
  });

  test("a time without use is the stop and what is left until the sandbox is deleted, in whole minutes", async () => {
    await open({}, { ttl: 3600 });
    expect(createdWith()).toMatchObject({ autoStopInterval: 15, autoDeleteInterval: 45 });
    await open({}, { ttl: 61 });
    expect(createdWith()).toMatchObject({ autoStopInterval: 2, autoDeleteInterval: 0 });
    await open({ idleTimeout: 300 }, { ttl: 600 });
    expect(createdWith()).toMatchObject({ autoStopInterval: 5, autoDeleteInterval: 5 });
  });

  test("snapshot, labels, hosts and resources arrive", async () => {
    await open({
      snapshot: "node-20",
      labels: { team: "blue" },
      network: { allow: ["pypi.org", "*.pythonhosted.org"] },
      create: { resources: { cpu: 2, memory: 4 } },
    });
    expect(createdWith()).toMatchObject({
      snapshot: "node-20",
      labels: { team: "blue", [LEASE_LABEL]: "key" },
      networkBlockAll: false,
      domainAllowList: "pypi.org,*.pythonhosted.org",
      cpu: 2,
      memory: 4,
    });
    expect(provider({ network: { allow: ["pypi.org"] } }).network).toBe("allow-list");
    await open({ image: "debian:12", network: "open" });
    expect(createdWith()).toMatchObject({ networkBlockAll: false });
    expect(createdWith().buildInfo.dockerfileContent).toContain("FROM debian:12");
  });

  test("options that contradict each other or mean nothing are refused before anything is reached", () => {
    const requests = server.loopback.requests.length;
    expect(() => provider({ image: "a", snapshot: "b" })).toThrow("image and snapshot");
    expect(() => provider({ network: { allow: ["*"] } })).toThrow(/\*/);
    expect(() => provider({ workingDirectory: "relative" })).toThrow("workingDirectory");
    expect(() => provider({ openTimeout: 0 })).toThrow("openTimeout");
    expect(server.loopback.requests.length).toBe(requests);
  });

  test("it is told that it is still needed", async () => {
    const made = await open();
    await made.keepAlive?.();
    expect(server.sandboxes.get(made.id)?.activity).toBe(1);
  });
});

describe("a sandbox that sleeps", () => {
  test("is started by the next command, with its files", async () => {
    const made = await open();
    await made.sandbox.execute("echo kept > note.txt");
    await server.stop(made.id);
    expect(await made.sandbox.execute("cat note.txt")).toMatchObject({ output: "kept\n", exitCode: 0 });
  });

  test("is started once for operations that come at the same time", async () => {
    const made = await open();
    await made.sandbox.execute("echo kept > note.txt");
    await server.stop(made.id);
    const path = `${DAYTONA_HOME}/note.txt`;
    const [command, files] = await Promise.all([
      made.sandbox.execute("cat note.txt"),
      made.sandbox.downloadFiles?.([path, path]),
    ]);
    expect(command.output).toBe("kept\n");
    expect(files?.map(({ error }) => error)).toEqual([null, null]);
    const starts = server.loopback.requests.filter((line) => line === `POST /api/sandbox/${made.id}/start`);
    expect(starts.length).toBe(1);
  });

  test("is started when it is found again", async () => {
    const made = await open();
    await server.stop(made.id);
    const again = await provider().reattach?.(made.id, { key: "key", env: {} });
    expect(server.sandboxes.get(made.id)?.state).toBe("started");
    expect(again?.id).toBe(made.id);
  });

  test("that cannot be started any more is gone", async () => {
    const made = await open();
    const fake = server.sandboxes.get(made.id);
    if (fake) fake.state = "error";
    expect(await provider().reattach?.(made.id, { key: "key", env: {} })).toBeUndefined();
    expect((await failureOf(() => made.sandbox.execute("true"))).code).toBe("SANDBOX_LOST");
  });
});

describe("a service that fails", () => {
  test("a wrong key is ACCESS_DENIED, and no key is shown anywhere", async () => {
    const key = "dtn_wrongwrongwrongwrongwrong";
    const error = await failureOf(() => open({ apiKey: key }));
    expect(error.code).toBe("ACCESS_DENIED");
    expect(error.message).toContain("DAYTONA_API_KEY");
    expect(inspect(error, { depth: 10 })).not.toContain(key);
  });

  test("no key at all is said before anything is reached", async () => {
    const requests = server.loopback.requests.length;
    const error = await failureOf(() => open({ apiKey: undefined }));
    expect([error.code, server.loopback.requests.length]).toEqual(["ACCESS_DENIED", requests]);
  });

  test.each([
    [429, "Rate limit exceeded", "QUOTA_EXCEEDED"],
    [403, "Total CPU limit exceeded. Maximum allowed: 4.", "QUOTA_EXCEEDED"],
    [403, "Forbidden resource", "ACCESS_DENIED"],
    [400, "Snapshot 'nope' not found", "SANDBOX_UNAVAILABLE"],
    [500, "Internal server error", "SANDBOX_UNAVAILABLE"],
    [503, "no runner", "SANDBOX_UNAVAILABLE"],
  ])("a creation that is answered %i '%s' is %s", async (status, message, code) => {
    server.loopback.faults.add({ kind: "status", when: CREATE, status, body: { message } });
    const error = await failureOf(() => open());
    expect(error.code).toBe(code);
    expect(error.message).toContain(message.replace(/\.$/, ""));
  });

  test("a creation whose answer is lost leaves nothing", async () => {
    server.loopback.faults.add({ kind: "drop", after: true, when: CREATE, times: 1 });
    expect((await failureOf(() => open())).code).toBe("SANDBOX_UNAVAILABLE");
  });

  test("a creation that is aborted leaves nothing, and throws the reason", async () => {
    server.createDelay = 500;
    const reason = new Error("enough");
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 300);
    await expect(open({}, { signal: controller.signal })).rejects.toBe(reason);
    server.createDelay = 20;
  });

  test("a creation that takes too long leaves nothing", async () => {
    server.createDelay = 3000;
    const error = await failureOf(() => open({ openTimeout: 1 }));
    server.createDelay = 20;
    expect(error.code).toBe("SANDBOX_UNAVAILABLE");
  });

  test("nobody there at all is SANDBOX_UNAVAILABLE", async () => {
    const error = await failureOf(() => open({ apiUrl: "http://127.0.0.1:9/api" }));
    expect(error.code).toBe("SANDBOX_UNAVAILABLE");
  });
});

describe("a service that fails while a sandbox is there", () => {
  test("a connection that breaks ends the command, and the next one runs", async () => {
    const made = await open();
    server.loopback.faults.add({ kind: "drop", after: true, when: EXECUTE, times: 1 });
    const error = await failureOf(() => made.sandbox.execute("echo 1 >> count.txt"));
    expect(error.code).toBe("SANDBOX_UNAVAILABLE");
    expect((await made.sandbox.execute("cat count.txt")).output).toBe("1\n");
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

  test.each([
    [401, "ACCESS_DENIED"],
    [429, "QUOTA_EXCEEDED"],
    [422, "COMMAND_FAILED"],
    [500, "SANDBOX_UNAVAILABLE"],
    [502, "SANDBOX_UNAVAILABLE"],
  ])("a command that is answered %i is %s, and the next one runs", async (status, code) => {
    const made = await open();
    server.loopback.faults.add({ kind: "status", status, when: EXECUTE, times: 1, body: { message: "no" } });
    expect((await failureOf(() => made.sandbox.execute("true"))).code).toBe(code);
    expect((await made.sandbox.execute("true")).exitCode).toBe(0);
  });

  test("a sandbox that ends meanwhile is SANDBOX_LOST for commands and files, soon", async () => {
    const made = await open();
    const running = failureOf(() => made.sandbox.execute("sleep 6162", { timeout: 600 }));
    await untilRunning(machineOf(made), "sleep 6162");
    await provider().destroy?.(made.id);
    expect((await running).code).toBe("SANDBOX_LOST");
    for (const act of [
      () => made.sandbox.execute("true"),
      () => made.sandbox.readRaw(`${DAYTONA_HOME}/x`),
      () => made.sandbox.uploadFiles?.([[`${DAYTONA_HOME}/x`, new Uint8Array()]]),
      () => made.sandbox.downloadFiles?.([`${DAYTONA_HOME}/é`]),
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
    names.map((name) => [`${DAYTONA_HOME}/${name}`, name === "empty" ? new Uint8Array() : bytes] as const),
  );
  expect(up?.map(({ error }) => error)).toEqual(names.map(() => null));
  const down = await sandbox.downloadFiles?.(names.map((name) => `${DAYTONA_HOME}/${name}`));
  for (const [index, name] of names.entries())
    expect(
      Buffer.from(down?.[index]?.content ?? "missing").equals(name === "empty" ? Buffer.alloc(0) : bytes),
    ).toBe(true);
  const bad = ["a directory", "file/below", "none", "nøne"].map((name) => `${DAYTONA_HOME}/${name}`);
  const refusedUp = await sandbox.uploadFiles?.(bad.slice(0, 2).map((path) => [path, bytes] as const));
  expect(refusedUp?.map(({ error }) => error)).toEqual(["is_directory", "parent_not_found"]);
  const refusedDown = await sandbox.downloadFiles?.(bad);
  expect(refusedDown?.map(({ error }) => error)).toEqual([
    "is_directory",
    "file_not_found",
    "file_not_found",
    "file_not_found",
  ]);
});

test("a sandbox that its owner made is used, and left as it is", async () => {
  const client = new Daytona({
    apiKey: DAYTONA_KEY,
    apiUrl: server.apiUrl,
    target: "us",
    useDeprecatedPolling: true,
  });
  const sandbox = await client.create({ networkBlockAll: true });
  const owned = daytonaSandbox({ sandbox, env: { OWN: "1" } });
  expect([owned.name, owned.network, owned.destroy]).toEqual(["daytona", "none", undefined]);
  const made = await owned.open({ key: "key", env: { LEASE: "2" } });
  expect((await made.sandbox.execute('echo "$OWN$LEASE"; pwd')).output).toBe(`12\n${DAYTONA_HOME}\n`);
  await made.destroy();
  await made.destroy();
  expect(server.sandboxes.get(sandbox.id)?.state).toBe("started");
  expect((await owned.reattach?.(sandbox.id, { key: "key", env: {} }))?.id).toBe(sandbox.id);
  expect(await owned.reattach?.("another", { key: "key", env: {} })).toBeUndefined();
  await sandbox.delete();
});

test("a client that is handed over is used", async () => {
  const client = new Daytona({
    apiKey: DAYTONA_KEY,
    apiUrl: server.apiUrl,
    target: "us",
    useDeprecatedPolling: true,
  });
  const made = await open({ client, apiKey: undefined });
  expect((await made.sandbox.execute("echo hello")).output).toBe("hello\n");
});
