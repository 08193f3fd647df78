import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type DockerSandboxOptions, dockerSandbox } from "../docker.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const servers: Server[] = [];
const directories: string[] = [];

afterAll(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true });
});

/** `asked` are the requests, as `METHOD path`. */
interface Loopback {
  readonly asked: string[];
  readonly bodies: Map<string, string>;
  readonly host: string;
}

/** Answers as Docker does, except where `answers` has something else for `METHOD /path`. */
async function loopback(answers: Readonly<Record<string, Answer>>): Promise<Loopback> {
  const asked: string[] = [];
  const bodies = new Map<string, string>();
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const what = `${request.method} ${(request.url as string).split("?")[0]}`;
      asked.push(what);
      bodies.set(what, body);
      const key = Object.keys(answers).find((one) => what.includes(one));
      if (key !== undefined) answers[key]?.(request, response, body);
      else usual(what, response);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { asked, bodies, host: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function usual(what: string, response: ServerResponse): void {
  if (what === "GET /info") json(response, 200, { SecurityOptions: ["name=seccomp,profile=builtin"] });
  else if (what.includes("/images/")) json(response, 200, { Id: "sha256:1" });
  else if (what.includes("/containers/create")) json(response, 201, { Id: "c0ffee", Warnings: [] });
  else if (what === "GET /containers/c0ffee/json")
    json(response, 200, {
      Id: "c0ffee",
      State: { Running: true },
      Config: { Labels: { "deepwright-lease": "key" } },
    });
  else if (what.endsWith("/exec")) json(response, 201, { Id: "e1" });
  else response.writeHead(what.includes("archive") ? 200 : 204).end();
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

const failing =
  (status: number, message: string): Answer =>
  (_, response) =>
    json(response, status, { message });
const dropping: Answer = (request) => request.socket.destroy();
const silent: Answer = () => undefined;

/** Only an engine that says nothing is given up. */
const timeLimitOf = (answer: Answer | undefined): DockerSandboxOptions =>
  answer === silent ? { engineTimeout: 3 } : {};

const request = { key: "key", env: {} };

function open(engine: Loopback, options: DockerSandboxOptions = {}) {
  return dockerSandbox({ host: engine.host, engineTimeout: 600, ...options }).open(request);
}

describe("an engine that is asked to make a container", () => {
  test("is told what the options say", async () => {
    const engine = await loopback({});
    const directory = mkdtempSync(join(tmpdir(), "dw-bind-"));
    directories.push(directory);
    await open(engine, {
      image: "some:image",
      network: "open",
      limits: { memory: 1e8, cpus: 1.5, pids: 99 },
      workspace: { directory, readOnly: true },
      readOnlyRoot: true,
      ttl: 50,
    });
    const spec = JSON.parse(engine.bodies.get("POST /containers/create") as string);
    expect(spec).toMatchObject({
      Image: "some:image",
      User: "0:0",
      WorkingDir: "/workspace",
      Cmd: ["50", "2"],
      HostConfig: {
        AutoRemove: true,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        NetworkMode: "bridge",
        Memory: 1e8,
        MemorySwap: 1e8,
        CpuQuota: 150_000,
        CpuPeriod: 100_000,
        PidsLimit: 99,
        ReadonlyRootfs: true,
        Mounts: [{ Type: "bind", Source: directory, Target: "/workspace", ReadOnly: true }],
      },
    });
    expect(JSON.stringify(spec)).not.toMatch(/Privileged":true|docker\.sock|"host"/);
  });

  test("has no network unless it was asked for", async () => {
    const engine = await loopback({});
    await open(engine);
    expect(JSON.parse(engine.bodies.get("POST /containers/create") as string).HostConfig.NetworkMode).toBe(
      "none",
    );
  });

  test.each<[string, object, usernsMode: string | undefined, user: RegExp]>([
    ["of root", { SecurityOptions: ["name=seccomp,profile=builtin"] }, undefined, /^(?!0:)/],
    ["of Podman, rootless", { Rootless: true, SecurityOptions: ["name=rootless"] }, "keep-id", /^(?!0:)/],
    ["of Docker, rootless", { SecurityOptions: ["name=seccomp", "name=rootless"] }, undefined, /^0:0$/],
  ])(
    "%s, has commands that may do what the owner of a lent directory may",
    async (_, info, usernsMode, user) => {
      const engine = await loopback({ "GET /info": (_, response) => json(response, 200, info) });
      const directory = mkdtempSync(join(tmpdir(), "dw-bind-"));
      directories.push(directory);
      const place = await open(engine, { workspace: { directory, readOnly: true } });
      await Promise.resolve(place.sandbox.execute("true")).catch(() => undefined);
      const spec = JSON.parse(engine.bodies.get("POST /containers/create") as string);
      expect(spec.HostConfig.UsernsMode).toBe(usernsMode);
      expect(spec.User).toBe("0:0");
      const exec = JSON.parse(engine.bodies.get("POST /containers/c0ffee/exec") as string);
      expect(exec.User).toMatch(user);
    },
  );

  test.each<[string, Answer, string, RegExp]>([
    ["refuses the user", failing(403, "not for you"), "ACCESS_DENIED", /not for you/],
    ["has too much to do", failing(429, "slow down"), "QUOTA_EXCEEDED", /slow down/],
    ["is out of order", failing(500, "driver failed"), "SANDBOX_UNAVAILABLE", /status 500.*driver failed/],
    ["drops the connection", dropping, "SANDBOX_UNAVAILABLE", /socket hang up|ECONNRESET/],
    ["says nothing", silent, "SANDBOX_UNAVAILABLE", /did not answer in time.*engineTimeout/],
  ])("that %s is told apart, and nothing is left", async (_, answer, code, message) => {
    const engine = await loopback({ "/start": answer });
    await expect(open(engine, timeLimitOf(answer))).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(engine.asked.some((what) => /^DELETE \/containers\/deepwright-key-/.test(what))).toBe(true);
  });

  test("that made one without saying so is asked to remove it", async () => {
    let deletes = 0;
    const engine = await loopback({
      "/containers/create": dropping,
      "DELETE /containers": (_, response) => {
        deletes += 1;
        if (deletes < 3) json(response, 404, { message: "no such container" });
        else response.writeHead(204).end();
      },
    });
    await expect(open(engine)).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    expect(deletes).toBe(3);
  });

  test("pulls an image it does not have, and tells how that goes on", async () => {
    const lines: string[] = [];
    const engine = await loopback({
      "GET /images/": failing(404, "no such image"),
      "POST /images/create": (_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.write('{"status":"Pulling from library/x","id":"22"}\n{"status":"Down');
        response.end('loading","id":"layer","progress":"[=> ] 1/2"}\n');
      },
    });
    await open(engine, { image: "x:22", onPull: (line) => lines.push(line) });
    expect(lines).toEqual(["22 Pulling from library/x", "layer Downloading [=> ] 1/2"]);
  });

  test("that cannot pull an image says why", async () => {
    const engine = await loopback({
      "GET /images/": failing(404, "no such image"),
      "POST /images/create": (_, response) => response.end('{"error":"manifest unknown"}\n'),
    });
    await expect(open(engine, { image: "x:0" })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(/'x:0' could not be pulled: manifest unknown/),
    });
  });

  test("that is stopped while it pulls is left at once, with the reason", async () => {
    const engine = await loopback({
      "GET /images/": failing(404, "no such image"),
      "POST /images/create": silent,
    });
    const opening = dockerSandbox({ host: engine.host }).open({
      ...request,
      signal: AbortSignal.timeout(200),
    });
    await expect(opening).rejects.toMatchObject({ name: "TimeoutError" });
    expect(engine.asked.some((what) => what.includes("/containers/create"))).toBe(false);
  });
});

describe.concurrent("an engine that is asked to run a command", () => {
  const gone = { "GET /containers/c0ffee/json": failing(404, "no such container") };
  const stopped = {
    "GET /containers/c0ffee/json": ((_, response) =>
      json(response, 200, { Id: "c0ffee", State: { Running: false } })) as Answer,
  };

  test.each<[string, Record<string, Answer>, string]>([
    ["has no such container", { "/exec": failing(404, "no such container"), ...gone }, "SANDBOX_LOST"],
    ["says that it does not run", { "/exec": failing(409, "is not running"), ...stopped }, "SANDBOX_LOST"],
    ["says that it is paused", { "/exec": failing(409, "is paused") }, "SANDBOX_UNAVAILABLE"],
    ["is out of order", { "/exec": failing(500, "no") }, "SANDBOX_UNAVAILABLE"],
    ["fails because the container is gone", { "/exec": failing(500, "no"), ...gone }, "SANDBOX_LOST"],
    ["drops the connection", { "/exec": dropping }, "SANDBOX_UNAVAILABLE"],
    ["says nothing", { "/exec": silent }, "SANDBOX_UNAVAILABLE"],
    [
      "drops the connection of the command itself",
      { "POST /exec/e1/start": dropping },
      "SANDBOX_UNAVAILABLE",
    ],
  ])("and %s", async (_, answers, code) => {
    const place = await open(await loopback(answers), timeLimitOf(answers["/exec"]));
    await expect(place.sandbox.execute("true")).rejects.toMatchObject({ name: "SandboxError", code });
  });

  test("and breaks off in the middle of the output is a SANDBOX_UNAVAILABLE, and the command is ended", async () => {
    const engine = await loopback({
      "POST /exec/e1/start": (incoming, response) => {
        response.writeHead(200, { "content-type": "application/vnd.docker.raw-stream" });
        response.write(Buffer.from([1, 0, 0, 0, 0, 0, 0, 9, 104, 97, 108]));
        setTimeout(() => incoming.socket.destroy(), 50);
      },
    });
    const place = await open(engine);
    await expect(place.sandbox.execute("true")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    expect(engine.asked.filter((what) => what.endsWith("/exec")).length).toBeGreaterThan(1);
  });

  test("R-38 and breaks off because the container ends, which it notices later, is a SANDBOX_LOST", async () => {
    let looks = 0;
    const place = await open(
      await loopback({
        "POST /exec/e1/start": (incoming) => setTimeout(() => incoming.socket.destroy(), 50),
        "GET /containers/c0ffee/json": (_, response) =>
          json(response, 200, { Id: "c0ffee", State: { Running: ++looks < 5 } }),
      }),
    );
    await expect(place.sandbox.execute("true")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  });

  test("destroying a container that is gone, or going, is no error", async () => {
    for (const answer of [
      failing(404, "no such container"),
      failing(409, "removal of container is already in progress"),
    ]) {
      const place = await open(await loopback({ "DELETE /containers": answer }));
      await place.destroy();
      await place.destroy();
    }
  });
});

describe("options", () => {
  test.each<[DockerSandboxOptions & Record<string, unknown>, RegExp]>([
    [{ privileged: true }, /no option 'privileged'/],
    [{ user: "root" }, /in numbers/],
    [{ network: "host" as "open" }, /'none' or 'open'/],
    [{ workspace: { directory: "relative" } }, /absolute/],
    [{ limits: { memory: -1 } }, /limits.memory/],
    [{ env: { "A B": "x" } }, /no name of a variable/],
    [{ container: "x", image: "y" }, /'image' is about a container that is made/],
    [{ container: "x", workingDirectory: "app" }, /'app' is no absolute path/],
    [{ workingDirectory: "/app" }, /about a 'container' of yours/],
    [{ ttl: 0 }, /'ttl' must be/],
  ])("%j are refused before anything is connected to", (options, message) => {
    expect(() => dockerSandbox(options)).toThrow(message);
  });
});
