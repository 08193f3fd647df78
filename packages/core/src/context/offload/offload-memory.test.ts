import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("./offload-memory-for-tests.ts", import.meta.url));
const run = promisify(execFile);

async function measured(kind: string): Promise<any> {
  const rootDir = mkdtempSync(join(tmpdir(), "offload-memory-"));
  const flags = ["--expose-gc", "--import", "tsx", "--conditions=source"];
  const { stdout } = await run(process.execPath, [...flags, program, kind, rootDir]);
  return JSON.parse(stdout);
}

it("R-32 keeps a result of a million lines in a file, and hardly more in memory than the result", async () => {
  const { grownMegabytes, heapMegabytes, text, files } = await measured("result");
  expect(files).toEqual([{ name: "call_1", size: 104_000_000 }]);
  expect(text).toContain("104000000 characters");
  expect(text.length).toBeLessThan(6000);
  expect(grownMegabytes).toBeLessThanOrEqual(64);
  expect(heapMegabytes).toBeLessThan(90);
});

it("R-32 keeps beginning and end of 300 MB of a command's output, and bounds the memory it takes", async () => {
  const { grownMegabytes, text, files } = await measured("output");
  expect(files[0].size).toBeLessThan(200_000);
  expect(text).toContain("too long to be shown");
  expect(text).toContain("a line of output");
  expect(grownMegabytes).toBeLessThanOrEqual(64);
});
