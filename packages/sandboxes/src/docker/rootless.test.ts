import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type DockerSandboxOptions, dockerSandbox } from "../docker.ts";
import { testEngine } from "./engine-for-tests.ts";
import { type RootlessEngine, startRootless } from "./rootless-engine-for-tests.ts";

let engine: RootlessEngine;
let directory: string;

beforeAll(async () => {
  engine = await startRootless(await testEngine());
});

afterAll(() => engine?.stop());

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "dw-workspace-"));
  chownSync(directory, engine.uid, engine.uid);
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function provider(options: DockerSandboxOptions = {}) {
  const { socketPath, image } = engine;
  return dockerSandbox({
    socketPath,
    image,
    pull: false,
    engineTimeout: 600,
    workspace: { directory },
    ...options,
  });
}

const request = { key: "rootless", env: {} };

test("a rootless engine lends a directory to commands as its owner, who has no rights in the container", async () => {
  const opened = await provider().open(request);
  try {
    const { output } = await opened.sandbox.execute(
      "id -u; echo made > made.txt; grep CapEff /proc/self/status; kill 1; echo x > /etc/passwd",
    );
    expect(output).toMatch(/^1234\nCapEff:\s+0{16}\n/);
    expect(output).toMatch(/not permitted[\s\S]*denied/);
    expect((await opened.sandbox.write("/workspace/sub/two.txt", "two")).error).toBeUndefined();
    const again = await provider().reattach?.(opened.id, request);
    expect((await again?.sandbox.execute("id -u; cat made.txt"))?.output).toBe("1234\nmade\n");
  } finally {
    await opened.destroy();
  }
  expect(readFileSync(join(directory, "made.txt"), "utf8")).toBe("made\n");
  expect(statSync(join(directory, "sub/two.txt")).uid).toBe(engine.uid);
});

test("with a rootless engine `user: 0` is the user it runs as, too", async () => {
  const opened = await provider({ user: 0 }).open(request);
  try {
    expect((await opened.sandbox.execute("echo made > made.txt; id -u")).output).toBe("0\n");
  } finally {
    await opened.destroy();
  }
  expect(statSync(join(directory, "made.txt")).uid).toBe(engine.uid);
});

test("a directory that the user of a rootless engine cannot write to is refused in words about that user", async () => {
  chownSync(directory, 4321, 4321);
  chmodSync(directory, 0o755);
  await expect(provider().open(request)).rejects.toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringMatching(
      /cannot write to the workspace.*rootless.*give the directory to that user/,
    ),
  });
});

test("a container of a rootless engine has a workspace of its own without more", async () => {
  const opened = await provider({ workspace: null }).open(request);
  try {
    expect((await opened.sandbox.execute("echo own > own.txt; cat own.txt; id -u")).output).toBe(
      "own\n1000\n",
    );
  } finally {
    await opened.destroy();
  }
});
