import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { testProgram } from "../../../../scripts/test-program.mjs";
import { until } from "../../../../scripts/test-time.ts";
import { createSandbox } from "../index.ts";
import { processProvider } from "./process-provider-for-tests.ts";
import { runOf, sandboxesRoot } from "./sandboxes-for-tests.ts";

const PROGRAM = new URL("./crashing-process-for-tests.ts", import.meta.url);

/** Killed with -9 when it has come so far. */
async function crash(root: string, stage: "using" | "opening" | "set-up", ttl = 3600): Promise<string> {
  const args = [await testProgram(PROGRAM), root, stage, String(ttl)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const provider = processProvider({ root });
  await until(() => provider.places().length === 1);
  const [id] = provider.places() as [string];
  const files = { using: "note", "set-up": "half", opening: "." };
  await until(() => existsSync(join(root, id, "work", files[stage])));
  child.kill("SIGKILL");
  await once(child, "exit");
  return id;
}

test("a process that is killed while it uses a sandbox: the next one finds it as it was left", async () => {
  const root = sandboxesRoot();
  const id = await crash(root, "using");
  await using source = createSandbox({ provider: processProvider({ root }), setupScript: "echo x >> count" });
  const { output } = await (await source(runOf("t"))).execute("cat note count");
  expect([output, (await source.lease("t")).id]).toEqual(["kept\nx\n", id]);
});

test("killed before it could note the id: the next one finds it by its key and sets it up", async () => {
  const root = sandboxesRoot();
  const id = await crash(root, "opening");
  await using source = createSandbox({ provider: processProvider({ root }), setupScript: "echo x >> count" });
  const { output } = await (await source(runOf("t"))).execute("cat count");
  expect([output, (await source.lease("t")).id]).toEqual(["x\n", id]);
});

test("killed in the middle of the set-up: the next one ends it and opens another", async () => {
  const root = sandboxesRoot();
  const id = await crash(root, "set-up");
  const provider = processProvider({ root });
  await using source = createSandbox({ provider, setupScript: "echo x >> count" });
  expect((await (await source(runOf("t"))).execute("ls")).output).toBe("count\n");
  expect(provider.places()).toHaveLength(1);
  expect(provider.places()).not.toContain(id);
});

test("killed, and nobody goes on with the thread: whoever comes next ends it when its time is up", async () => {
  const root = sandboxesRoot();
  const id = await crash(root, "using", 1);
  await pause(1200);
  const provider = processProvider({ root });
  await using source = createSandbox({ provider });
  await (await source(runOf("another"))).execute("true");
  expect(provider.places()).toHaveLength(1);
  expect(provider.places()).not.toContain(id);
});
