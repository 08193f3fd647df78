import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Answer, type ProviderServer, providerServer } from "./test-support/provider-server.ts";
import { directoryWith, type RunningBinary, startBinary } from "./test-support/run-binary.ts";

const NEVER = new Promise<void>(() => {});
/** Says a word, then nothing for ever. */
const SLOW: Answer = { text: ["Thinking", " on"], hold: NEVER };
const WRITE: Answer = { call: { name: "write_file", args: { file_path: "/draft.md", content: "A draft" } } };

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(
  answers: readonly Answer[],
  args: readonly string[],
  cwd: string,
): Promise<RunningBinary> {
  server = await providerServer(answers, ["local"]);
  return startBinary(["run", "Write", "--base-url", `${server.url}/v1`, ...args], { cwd });
}

describe("stopping a run", () => {
  it("Ctrl-C ends it with 130; what was done stays and is said", async () => {
    const cwd = await directoryWith({});
    const running = await start([WRITE, SLOW], [], cwd);
    await running.shows("Thinking");
    running.child.kill("SIGINT");
    const result = await running.result;
    expect(result.code).toBe(130);
    expect(result.stdout).toMatch(/^Thinking( on)?\n$/);
    expect(result.stderr).toContain("Stopping…");
    expect(result.stderr).toContain(`+ /draft.md\nWrote 1 file in ${cwd}\n`);
    expect(result.stderr).toContain("✘ interrupted");
    expect(await readFile(join(cwd, "draft.md"), "utf8")).toBe("A draft");
  });

  it("SIGTERM ends it with 143", async () => {
    const running = await start([SLOW], ["--json"], await directoryWith({}));
    await running.shows("Thinking");
    running.child.kill("SIGTERM");
    const result = await running.result;
    expect(result.code).toBe(143);
    const last = JSON.parse(result.stdout.trimEnd().split("\n").at(-1) ?? "");
    expect(last.data).toMatchObject({ end: "stopped", stoppedBy: "SIGTERM", exitCode: 143 });
  });

  it("a second Ctrl-C ends the process at once", async () => {
    const running = await start([SLOW], [], await directoryWith({}));
    await running.shows("Thinking");
    running.child.kill("SIGINT");
    running.child.kill("SIGINT");
    expect((await running.result).code).toBe(130);
  });

  it("--timeout stops it: a limit, 3", async () => {
    const running = await start([SLOW], ["--timeout", "4"], await directoryWith({}));
    const result = await running.result;
    expect(result.stderr).toContain("stopped: the time of --timeout is over");
    expect(result.code).toBe(3);
  });

  it("a reader that leaves ends it without a fuss", async () => {
    let letGo = (): void => {};
    const hold = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const running = await start([{ ...WRITE, hold }, SLOW], [], await directoryWith({}));
    await running.shows("Model:");
    running.child.stdout?.destroy();
    letGo();
    const result = await running.result;
    expect(result.code).toBe(1);
    expect(result.stderr).not.toContain("at ");
  });
});
