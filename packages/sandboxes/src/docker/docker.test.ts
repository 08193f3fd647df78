import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { type DockerSandboxOptions, dockerSandbox } from "../docker.ts";
import type { OpenedSandbox } from "../provider.ts";
import { type TestEngine, testEngine } from "./engine-for-tests.ts";

let engine: TestEngine;
let docker: Docker;
/** Shared by the tests that do not end it. */
let shared: OpenedSandbox;
const opened: OpenedSandbox[] = [];

beforeAll(async () => {
  engine = await testEngine();
  docker = new Docker({ socketPath: engine.socketPath });
  shared = await open({ image: engine.bashImage });
});

afterAll(async () => {
  for (const one of opened) await one.destroy();
});

async function open(options: DockerSandboxOptions = {}, key = "docker-test"): Promise<OpenedSandbox> {
  const one = await provider(options).open({ key, env: {} });
  opened.push(one);
  return one;
}

function provider(options: DockerSandboxOptions = {}) {
  return dockerSandbox({
    socketPath: engine.socketPath,
    image: engine.plainImage,
    pull: false,
    engineTimeout: 600,
    ...options,
  });
}

async function output(command: string, place = shared): Promise<string> {
  return (await place.sandbox.execute(command)).output;
}

/** Error of a command that does not come to its end. */
async function failure(place: OpenedSandbox, command: string): Promise<unknown> {
  try {
    return await place.sandbox.execute(command, { timeout: 600 });
  } catch (error) {
    return error;
  }
}

/** Processes of the container's user, except the one that asks. */
async function processes(place = shared): Promise<string> {
  return output("ps -o user,args | grep -E '^1000' | grep -vE 'ps -o|grep|/bin/sh -c'", place);
}

describe("a container", () => {
  test("SB-05 runs commands as a user without rights, capabilities and new privileges, under a filter of calls", async () => {
    const status = await output("id -u; id -g; cat /proc/self/status");
    expect(status).toMatch(/^1000\n1000\n/);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect(status).toMatch(new RegExp(`^${set}:\\s+0{16}$`, "m"));
    expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
    expect(status).toMatch(/^Seccomp:\s+2$/m);
    expect(
      await output("mount -t tmpfs none /tmp; unshare -m true; chown 0 /workspace; echo x > /etc/passwd"),
    ).toMatch(
      /(not permitted|denied)[\s\S]*(not permitted|denied)[\s\S]*(not permitted|denied)[\s\S]*denied/,
    );
  });

  test("SB-02 has no network but its own loopback", async () => {
    expect(await output("ls /sys/class/net")).toBe("lo\n");
    const tried = await shared.sandbox.execute(
      "wget -q -T 3 http://93.184.216.34/ ; nc -w 3 8.8.8.8 53 </dev/null; nslookup example.com; ping -c 1 -W 2 8.8.8.8; (echo > /dev/tcp/1.1.1.1/80)",
    );
    expect(tried.output).not.toMatch(/bytes from|HTTP|Address.*93\./);
    expect(tried.output).toMatch(/unreachable/);
    expect(tried.exitCode).not.toBe(0);
  });

  test("has the limits it was given, and they hold", async () => {
    const place = await open({
      limits: { memory: 64 * 1024 ** 2, pids: 24, cpus: 0.5, fileSize: 1024 ** 2 },
    });
    const { HostConfig } = await docker.getContainer(place.id).inspect();
    expect(HostConfig.Memory).toBe(64 * 1024 ** 2);
    expect(HostConfig.PidsLimit).toBe(24);
    expect(HostConfig.CpuQuota).toBe(50_000);
    const large = await place.sandbox.execute("head -c 3000000 /dev/zero > big; echo $?; wc -c < big");
    expect(large.output).toMatch(/1048576\n$/);
    const scores = await output("cat /proc/1/oom_score_adj /proc/self/oom_score_adj", place);
    const [first, command] = scores.split("\n").map(Number);
    expect(command).toBeGreaterThan(first as number);
    const greedy = await place.sandbox.execute(
      "x=$(head -c 200000000 /dev/zero | tr '\\0' x); printf %s \"$x\" | wc -c",
    );
    expect(greedy.output).not.toContain("200000000");
    const many = await place.sandbox.execute("for i in $(seq 60); do sleep 600 & done; echo all");
    expect(many.output).toMatch(/can't fork/);
    expect(await output("echo still here", place)).toBe("still here\n");
  });

  test("is not stopped by a command that starts processes without end", async () => {
    const place = await open({ limits: { pids: 64 } });
    const bomb = "f() { f | f & f & }; f; sleep 600";
    const { exitCode } = await place.sandbox.execute(bomb, { timeout: 2 });
    expect(exitCode).not.toBe(0);
    expect(await output("echo still here", place)).toBe("still here\n");
  });

  test("keeps its image as it is when told so, with room to work in", async () => {
    const place = await open({ readOnlyRoot: true });
    expect(
      await output("echo x > /bin/new; echo y > /workspace/a && echo z > /tmp/b && cat /workspace/a", place),
    ).toMatch(/Read-only file system[\s\S]*y\n$/);
    const [up] = (await place.sandbox.uploadFiles?.([["/workspace/c", Buffer.from("c")]])) ?? [];
    expect(up?.error).toBeNull();
    expect((await place.sandbox.readRaw("/workspace/c")).data?.content).toBe("c");
  });

  test("works on a directory of this machine as its owner, and leaves the files there", async () => {
    const directory = mkdtempSync(join(tmpdir(), "dw-workspace-"));
    try {
      chmodSync(directory, 0o755);
      chownSync(directory, 1234, 1234);
      writeFileSync(join(directory, "given.txt"), "given\n");
      const place = await open({ workspace: { directory } });
      expect(await output("cat given.txt; id -u; echo made > made.txt", place)).toBe("given\n1234\n");
      await place.destroy();
      expect(readFileSync(join(directory, "made.txt"), "utf8")).toBe("made\n");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("SB-03 cannot change what steers other programs in a directory of this machine", async () => {
    const directory = mkdtempSync(join(tmpdir(), "dw-workspace-"));
    try {
      mkdirSync(join(directory, ".git/hooks"), { recursive: true });
      mkdirSync(join(directory, ".vscode"));
      mkdirSync(join(directory, "mcp"));
      for (const name of [".git/config", ".git/HEAD", ".envrc", "mcp/tools.js"])
        writeFileSync(join(directory, name), "before\n");
      const paths = ["", ".git", ".git/hooks", ".vscode", ".git/config", ".git/HEAD", ".envrc"];
      for (const path of [...paths, "mcp", "mcp/tools.js"]) chownSync(join(directory, path), 1234, 1234);
      const place = await open({ workspace: { directory, controlPaths: ["mcp/tools.js", "not/there"] } });
      const tries = [
        "echo x > .git/hooks/pre-commit",
        "echo x > .git/config",
        "echo x > .vscode/tasks.json",
        "echo x > .envrc",
      ];
      tries.push("echo x > mcp/tools.js", "rm -f mcp/tools.js", "mv mcp elsewhere");
      tries.push("rm -f .envrc", "mv .git elsewhere", "rm -rf .git/hooks", "mv .git/hooks .git/other");
      for (const one of tries) expect((await place.sandbox.execute(one)).exitCode, one).not.toBe(0);
      expect(await place.sandbox.write("/workspace/.git/hooks/x", "x")).toMatchObject({
        code: "PERMISSION_DENIED",
      });
      expect((await place.sandbox.execute("echo after > .git/HEAD && cat .git/HEAD")).output).toBe("after\n");
      await place.destroy();
      expect(readdirSync(join(directory, ".git/hooks"))).toEqual([]);
      for (const name of [".envrc", "mcp/tools.js"])
        expect(readFileSync(join(directory, name), "utf8")).toBe("before\n");
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("a directory that its user cannot write to is said at once, and nothing is left", async () => {
    const directory = mkdtempSync(join(tmpdir(), "dw-workspace-"));
    try {
      const opening = open({ workspace: { directory }, user: 1234 }, "unwritable");
      await expect(opening).rejects.toMatchObject({
        code: "SANDBOX_UNAVAILABLE",
        message: expect.stringMatching(/user 1234:1234 .* cannot write to the workspace/),
      });
      expect(await provider().find?.("unwritable")).toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("can be given a directory it cannot change", async () => {
    const directory = mkdtempSync(join(tmpdir(), "dw-workspace-"));
    try {
      chmodSync(directory, 0o777);
      const place = await open({ workspace: { directory, readOnly: true } });
      expect(await output("echo x > new.txt", place)).toMatch(/Read-only file system/);
      expect(existsSync(join(directory, "new.txt"))).toBe(false);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  test("says by labels whose it is and how long it stays, and no variable of a lease is in its description", async () => {
    const before = Date.now();
    const place = await provider({ labels: { team: "a" }, ttl: 777 }).open({
      key: "labelled",
      env: { SECRET_OF_LEASE: "hidden-value" },
    });
    opened.push(place);
    const info = await docker.getContainer(place.id).inspect();
    expect(info.Config.Labels).toMatchObject({
      team: "a",
      "deepwright-lease": "labelled",
      "deepwright-ttl": "777",
    });
    const created = Date.parse(info.Config.Labels["deepwright-created"] as string);
    expect(created).toBeGreaterThan(before - 1000);
    expect(JSON.stringify(info)).not.toContain("hidden-value");
    expect(await output("echo $SECRET_OF_LEASE", place)).toBe("hidden-value\n");
  });

  test("is not kept in use by a command that pretends it is", async () => {
    expect(await output("touch /run/deepwright/alive; kill -9 1; echo $?")).toMatch(
      /denied[\s\S]*(not permitted|denied)[\s\S]*1\n/,
    );
  });
});

describe("a command in a container", () => {
  test("is ended with all it started when its time is up, also what left its session and its environment", async () => {
    const place = shared;
    const command = `setsid sleep 301 & nohup sleep 302 >/dev/null 2>&1 & env -i setsid sh -c 'sleep 303 & sleep 304' &
      (env -u DEEPWRIGHT_CALL setsid sleep 305 &) ; sleep 306`;
    const { exitCode, signal } = await place.sandbox.execute(command, { timeout: 1 });
    expect([exitCode, signal]).toEqual([124, "SIGKILL"]);
    await expect.poll(() => processes()).toBe("");
  });

  test("that ends leaves nothing running in the background, however it was started", async () => {
    await shared.sandbox.execute(
      "setsid sleep 311 >/dev/null & (env -i setsid sleep 312 &) ; nohup sleep 313 & echo done",
    );
    await expect.poll(() => processes()).toBe("");
  });

  test("that kills its own shell and what is around it leaves nothing either", async () => {
    const { exitCode } = await shared.sandbox.execute("setsid sleep 321 & kill -9 $PPID $$");
    expect(exitCode).toBe(137);
    await expect.poll(() => processes()).toBe("");
  });

  test("is not ended by the end of another one", async () => {
    const wait = "touch begun; until [ -e go ]; do sleep 1; done";
    const long = shared.sandbox.execute(`${wait}; (sleep 1; echo inner) ; echo whole`, { timeout: 600 });
    await expect.poll(() => output("ls")).toContain("begun");
    await shared.sandbox.execute("sleep 600 & true");
    await shared.sandbox.execute("sleep 600", { timeout: 0.3 });
    await shared.sandbox.execute("touch go");
    expect((await long).output).toBe("inner\nwhole\n");
  });

  test("what bash complains about for lack of a terminal is left out", async () => {
    const { output: said } = await shared.sandbox.execute("bash -i -c 'echo inner'; echo outer");
    expect(said).toBe("inner\nouter\n");
  });

  test("gets the variables it was opened with, whatever is in them", async () => {
    expect(await output('echo "$HOME"; pwd')).toBe("/workspace\n/workspace\n");
  });

  test("that floods its output costs no memory here", async () => {
    const before = process.memoryUsage().rss;
    const { output: said, truncated } = await shared.sandbox.execute(
      "yes 0123456789abcdef | head -c 100000000; echo end",
    );
    expect(truncated).toBe(true);
    expect(said.length).toBeLessThan(110_000);
    expect(said.endsWith("end\n")).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(80 * 1024 ** 2);
  });

  test.each(["", "  "])("%j fails with exit code 1", async (command) => {
    expect(await shared.sandbox.execute(command)).toMatchObject({ exitCode: 1 });
  });

  test("with a NUL character is none", async () => {
    await expect(shared.sandbox.execute("a\0b")).rejects.toMatchObject({ code: "INVALID_COMMAND" });
  });
});

/** A container that removes itself may be gone before Podman has said that it was killed: then it says that. */
async function kill(id: string): Promise<void> {
  await docker
    .getContainer(id)
    .kill()
    .catch((error) => expect(error.message).toMatch(/no such container/));
}

describe("what can happen to a container", () => {
  test("R-38 one that is killed while a command runs is a SANDBOX_LOST", async () => {
    const place = await open();
    const running = failure(place, "echo begun; sleep 600");
    await expect.poll(() => processes(place)).toContain("sleep 600");
    await kill(place.id);
    expect(await running).toMatchObject({ name: "SandboxError", code: "SANDBOX_LOST" });
    await expect(place.sandbox.ls("/workspace")).rejects.toMatchObject({ code: "SANDBOX_LOST" });
  });

  test("an engine that is stopped while a command runs is a SANDBOX_UNAVAILABLE, and the container is found again", async () => {
    const directory = mkdtempSync(join(tmpdir(), "dw-socket-"));
    const socketPath = join(directory, "second.sock");
    const service = spawn(
      "podman",
      [...engine.args, "system", "service", "--time", "600", `unix://${socketPath}`],
      {
        env: engine.env,
        stdio: "ignore",
      },
    );
    try {
      await until(() => isListening(socketPath));
      const second = provider({ socketPath });
      const place = await second.open({ key: "engine-stops", env: {} });
      await place.sandbox.execute("echo kept > kept.txt");
      const running = failure(place, "sleep 600");
      await expect.poll(() => processes(place)).toContain("sleep 600");
      service.kill("SIGKILL");
      await once(service, "exit");
      expect(await running).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
      const again = await provider().reattach?.(place.id, { key: "engine-stops", env: {} });
      expect(await output("cat kept.txt", again)).toBe("kept\n");
      await again?.destroy();
    } finally {
      service.kill("SIGKILL");
      rmSync(directory, { recursive: true });
    }
  });

  test("one that has stopped is gone: it is not started again, and nothing is left of it", async () => {
    const place = await open({}, "stopped");
    await kill(place.id);
    expect(await provider().reattach?.(place.id, { key: "stopped", env: {} })).toBeUndefined();
    await expect.poll(() => provider().find?.("stopped")).toEqual([]);
  });

  test("one that was not made for a lease is neither used nor ended by its id", async () => {
    const foreign = await docker.createContainer({
      Image: engine.plainImage,
      Cmd: ["sleep", "3600"],
      HostConfig: { NetworkMode: "none" },
    });
    await foreign.start();
    try {
      const request = { key: "x", env: {} };
      await expect(provider().reattach?.(foreign.id, request)).rejects.toMatchObject({
        code: "ACCESS_DENIED",
      });
      await expect(provider().destroy?.(foreign.id)).rejects.toMatchObject({ code: "ACCESS_DENIED" });
      const place = await dockerSandbox({ socketPath: engine.socketPath, container: foreign.id }).open(
        request,
      );
      expect(await output("echo in it", place)).toBe("in it\n");
      await place.destroy();
      expect((await foreign.inspect()).State.Running).toBe(true);
    } finally {
      await foreign.remove({ force: true });
    }
  });

  test("an image that is not there is named, with what to do", async () => {
    await expect(open({ image: "localhost/no-such:image" })).rejects.toThrow(
      /no image 'localhost\/no-such:image'. Pull it \(docker pull/,
    );
  });

  test("an engine that is not there is a SANDBOX_UNAVAILABLE, with what to do", async () => {
    await expect(open({ socketPath: "/nonexistent/docker.sock" })).rejects.toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(
        /no container engine at \/nonexistent\/docker.sock.*Start Docker or Podman/,
      ),
    });
  });
});

/** The file of a socket is there before anybody listens on it. */
async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  const answer = await Promise.race([
    once(socket, "connect").then(() => true),
    once(socket, "close").then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answer;
}
