import { describe, expect, it, onTestFinished } from "vitest";
import { type Answer, providerServer } from "./test-support/provider-server.ts";
import { type BinaryResult, directoryWith, runBinary } from "./test-support/run-binary.ts";

const reads = (path: string): Answer => ({ call: { name: "ls", args: { path } } });
/** Other calls each time: nothing goes in circles. */
const BUSY = Array.from({ length: 20 }, (_, i) => reads(`/${i}`));

type Run = (args: readonly string[]) => Promise<BinaryResult>;

async function runs(answers: readonly Answer[], model = "anthropic:claude-sonnet-4-6"): Promise<Run> {
  const cwd = await directoryWith({});
  const server = await providerServer(answers, ["local"]);
  onTestFinished(() => server.close());
  const [provider] = model.split(":");
  const url = provider === "openai" ? `${server.url}/v1` : server.url;
  return (args) =>
    runBinary(["run", ...args, "--model", model, "--base-url", url], {
      cwd,
      env: { ANTHROPIC_API_KEY: "key" },
    });
}

function threadIn({ stderr }: BinaryResult): string {
  return stderr.match(/thread: (\S+)/)?.[1] ?? "";
}

describe("limits of a run", () => {
  it("--max-steps: 3, what was used and allowed is said, and the thread goes on with more", async () => {
    const run = await runs([...BUSY.slice(0, 3), { text: ["Done."] }]);
    const stopped = await run(["Work", "--max-steps", "2"]);
    const id = threadIn(stopped);
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toContain(
      "✘ stopped at the budget: The budget of 2 model calls is used up: 2 model calls used.",
    );
    expect(stopped.stderr).toContain(`Continue with: deepwright run --thread ${id} --max-steps 4\n`);
    const same = await run(["--thread", id, "--max-steps", "2"]);
    expect([same.code, same.stdout]).toEqual([3, ""]);
    const more = await run(["--thread", id, "--max-steps", "4"]);
    expect([more.code, more.stdout]).toEqual([0, "Done.\n"]);
  });

  it.each([
    ["--max-cost", "0.001", /The budget of \$0\.0010 is used up: \$0\.\d+ used/],
    ["--max-tokens", "100", /The budget of 100 tokens is used up: \d+ tokens used/],
  ])("%s stops it, too", async (option, value, words) => {
    const run = await runs(BUSY);
    const result = await run(["Work", option, value, "--json"]);
    expect([result.code, result.stderr]).toEqual([3, expect.stringMatching(words)]);
    expect(result.stderr).toContain(`${option} ${Number(value) * 2}\n`);
    const end = JSON.parse(result.stdout.trimEnd().split("\n").at(-1) ?? "").data;
    expect(end).toMatchObject({ end: "outcome", outcome: { kind: "budget", allowed: Number(value) } });
  });

  it("the cost of a model without a price cannot be limited: that is said with what can", async () => {
    const run = await runs(BUSY, "openai:local");
    const result = await run(["Work", "--max-cost", "1"]);
    expect([result.code, result.stderr]).toEqual([
      1,
      expect.stringMatching(/price of the model 'local' is not known.*--max-tokens/),
    ]);
  });

  it("the offline model costs nothing", async () => {
    const cwd = await directoryWith({ "a.txt": "a" });
    const result = await runBinary(["run", "Look", "--model", "offline", "--max-cost", "1"], { cwd });
    expect(result.code).toBe(0);
  });

  it.each([
    ["--max-steps", "0"],
    ["--max-steps", "1.5"],
    ["--max-cost", "-1"],
    ["--max-tokens", "many"],
    ["--max-seconds", "0"],
  ])("%s %s is wrong usage", async (option, value) => {
    const result = await runBinary(["run", "x", option, value, "--model", "offline"], {
      cwd: await directoryWith({}),
    });
    expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(`${option} must be a`)]);
  });
});
