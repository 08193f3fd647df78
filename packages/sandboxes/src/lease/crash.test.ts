import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { createSandbox } from "../index.ts";
import { placesRoot, runOf } from "./places-for-tests.ts";
import { processProvider } from "./process-provider-for-tests.ts";

const PROGRAM = "packages/sandboxes/src/lease/crashing-process-for-tests.ts";

/** Killed with -9 when it has come so far. */
async function crash(root: string, stage: "using" | "opening" | "set-up", ttl = 60): Promise<string> {
  const flags = ["--import", "tsx", "--conditions=source", PROGRAM, root, stage, String(ttl)];
  const child = spawn(process.execPath, flags, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const provider = processProvider({ root });
  await vi.waitFor(() => expect(provider.places()).toHaveLength(1), 20_000);
  const [id] = provider.places() as [string];
  if (stage === "set-up")
    await vi.waitFor(() => expect(existsSync(join(root, id, "work/half"))).toBe(true), 20_000);
  child.kill("SIGKILL");
  await once(child, "exit");
  return id;
}

test("a process that is killed while it uses a sandbox: the next one finds it as it was left", {
  timeout: 60_000,
}, async () => {
  const root = placesRoot();
  const id = await crash(root, "using");
  await using source = createSandbox({ provider: processProvider({ root }), setupScript: "echo x >> count" });
  const { output } = await (await source(runOf("t"))).execute("cat note count");
  expect([output, (await source.lease("t")).id]).toEqual(["kept\nx\n", id]);
});

test("killed before it could note the id: the next one finds it by its key and sets it up", {
  timeout: 60_000,
}, async () => {
  const root = placesRoot();
  const id = await crash(root, "opening");
  await using source = createSandbox({ provider: processProvider({ root }), setupScript: "echo x >> count" });
  const { output } = await (await source(runOf("t"))).execute("cat count");
  expect([output, (await source.lease("t")).id]).toEqual(["x\n", id]);
});

test("killed in the middle of the set-up: the next one ends it and opens another", {
  timeout: 60_000,
}, async () => {
  const root = placesRoot();
  const id = await crash(root, "set-up");
  const provider = processProvider({ root });
  await using source = createSandbox({ provider, setupScript: "echo x >> count" });
  expect((await (await source(runOf("t"))).execute("ls")).output).toBe("count\n");
  expect(provider.places()).toHaveLength(1);
  expect(provider.places()).not.toContain(id);
});

test("killed, and nobody goes on with the thread: whoever comes next ends it when its time is up", {
  timeout: 60_000,
}, async () => {
  const root = placesRoot();
  const id = await crash(root, "using", 1);
  await pause(1200);
  const provider = processProvider({ root });
  await using source = createSandbox({ provider });
  await (await source(runOf("another"))).execute("true");
  expect(provider.places()).toHaveLength(1);
  expect(provider.places()).not.toContain(id);
});
