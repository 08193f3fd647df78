import { readFileSync } from "node:fs";
import { replayCassette } from "@deepwright/evals";
import { expect, it } from "vitest";
import { directoryWith, runBinary } from "../test-support/run-binary.ts";

it("a thread becomes a cassette that replays, and a test file; nothing is overwritten without --force", async () => {
  const cwd = await directoryWith({ "a.txt": "x" });
  const { stderr } = await runBinary(["run", "Look around and write report.md"], { cwd });
  const id = /^thread: (\S+)$/m.exec(stderr)?.[1] ?? "none";
  const made = await runBinary(["threads", "to-test", id, "tests/threads", "--faults", "--json"], { cwd });
  expect(made).toMatchObject({ code: 0 });
  const { requests, files } = JSON.parse(made.stdout);
  expect(files).toEqual(
    ["cassette.json", "test.ts"].map((end) => expect.stringContaining(`/tests/threads/thread-${id}.${end}`)),
  );
  const played = await replayCassette(files[0]);
  expect([played.requests, played.outline[0]]).toEqual([requests, "human · Look around and write report.md"]);
  for (const kind of ["rate-limit", "cut-stream", "killed-tool", "crash"] as const)
    expect((await replayCassette(files[0], { fault: { kind } })).requests).toBe(requests);
  const test = readFileSync(files[1], "utf8");
  expect(test).toContain(`new URL("./thread-${id}.cassette.json", import.meta.url)`);
  expect(test.match(/^test\(/gm)).toHaveLength(4);
  expect(test).toMatch(/^test\.each\(\[1, .*\]\)\("it comes to its end although the process crashes/m);
  expect(await runBinary(["threads", "to-test", id, "tests/threads"], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--force"),
  });
});
