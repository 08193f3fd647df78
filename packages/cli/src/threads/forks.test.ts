import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, it } from "vitest";
import { directoryWith, homeOf } from "../test-support/run-binary.ts";
import { threadsIn } from "../test-support/threads-in.ts";

const SENTINEL = "sentinel-4be1c2";

it("bisect, du, rehearse and delete of a thread that changed a directory", async () => {
  const cwd = await directoryWith({ "a.txt": "good\n", "kept.txt": `${SENTINEL}\n` });
  const home = homeOf(cwd);
  const checkpointer = await SqliteSaver.open(join(home, "state.db"));
  const backend = new LocalShellBackend({ rootDir: cwd, virtualMode: true });
  const model = scriptedModel([
    callTool("write_file", { file_path: "/b.txt", content: "b\n" }),
    callTool("execute", { command: "echo 'it is bad' > a.txt" }),
    say("Done."),
  ]);
  const agent = createDeepAgent({ model, checkpointer, backend });
  await agent.invoke({ messages: "Change it" }, { configurable: { thread_id: "t1" }, metadata: { cwd } });
  await backend.close();
  await checkpointer.close();
  const bisect = (...args: string[]) => threadsIn(home, ["bisect", "t1", "--in", cwd, ...args]);

  const found = await bisect("--", "sh", "-c", "touch left; ! grep 'is bad' a.txt");
  expect(found.code).toBe(0);
  expect(found.stderr).toMatch(
    /^1\. fails with 1 after step \d+, call .*\n2\. succeeds before the first change\n/,
  );
  expect(found.stdout).toContain("$ echo 'it is bad' > a.txt");
  expect(found.stdout).toContain("asked: Change it\n  changed /a.txt\nIt says:\n  it is bad\n");
  expect(await readdir(cwd)).toEqual(["a.txt", "b.txt", "kept.txt"]);
  expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("it is bad\n");
  expect(await readdir(join(home, "copies"))).toEqual([]);

  const nothing = await bisect("--json", "--", "true");
  expect([nothing.code, JSON.parse(nothing.stdout).outcome]).toEqual([1, "succeeds"]);
  expect(await bisect("--", "no-such-program")).toMatchObject({ code: 1, stdout: "" });
  expect(await bisect("--sandbox", "off", "--", "true")).toMatchObject({ code: 2 });

  const sizes = JSON.parse((await threadsIn(home, ["du", "--json"])).stdout);
  expect(sizes.threads).toMatchObject([{ threadId: "t1", snapshotBytes: expect.any(Number) }]);
  expect(sizes.threads[0].snapshotBytes).toBeGreaterThan(100);
  expect(sizes.threads[0].bytes).toBeGreaterThan(sizes.threads[0].snapshotBytes);
  expect((await threadsIn(home, ["du"])).stdout).toMatch(
    /^THREAD .*\nt1 .*\n1 thread, of them .* of snapshots; .*\nSnapshots are kept for 90 days, and up to 10 GB/,
  );

  const rules = join(home, "rules.json");
  const rehearse = () => threadsIn(home, ["rehearse", "--permissions", rules, "--in", cwd]);
  await writeFile(
    rules,
    JSON.stringify({
      permissions: [{ operations: ["write"], paths: ["/b.txt"], mode: "deny" }],
      commands: { deny: ["echo"] },
    }),
  );
  expect((await rehearse()).stdout.split("\n").map((line) => line.replaceAll(/ +/g, " "))).toEqual([
    "THREAD NOW PROPOSED CALL",
    "t1 runs is denied write_file /b.txt",
    "t1 asks is denied execute echo 'it is bad' > a.txt",
    "2 calls of 2 in 1 thread would change.",
    "",
  ]);
  await writeFile(rules, '{"commands": {"allow": ["echo *"]}, "budget": {"maxSteps": 1}}');
  expect((await rehearse()).stdout).toMatch(
    /^t1 +asks +is not reached +execute .*\n1 call of 2 in 1 thread/m,
  );
  for (const wrong of ['{"theme": "dark"}', '{"budget": {"maxCost": 1}}']) {
    await writeFile(rules, wrong);
    expect(await rehearse()).toMatchObject({ code: 2 });
  }

  const stored = async (): Promise<string> => readFile(join(home, "state.db"), "latin1");
  expect(await stored()).toContain(SENTINEL);
  await threadsIn(home, ["delete", "t1", "--yes"]);
  await threadsIn(home, ["prune", "--erase", "--yes"]);
  expect(await stored()).not.toContain(SENTINEL);
});
