/** a process that is killed, and the one that goes on in its place. */
import { describe, expect, test } from "vitest";
import { killAgentAfter, logOf, runAgent, scratchDirectory } from "../fixtures/processes.ts";

const count = (log: readonly string[], line: string): number => log.filter((entry) => entry === line).length;

describe.each(["sync", "async"] as const)("kill -9 with durability %s", (durability) => {
  test("R-01 finished tools of a turn are not run again", async () => {
    const directory = scratchDirectory();
    const options = { directory, durability, calls: ["first", "slow", "second"] };
    await killAgentAfter(
      { ...options, text: "Go.", hangs: "tool" },
      { logged: "slow begins", stored: ["first says 1", "second says 2"] },
    );
    const result = await runAgent(options);
    expect(result.results).toEqual(["first says 1", "slow says 3", "second says 2"]);
    expect(result.outline.at(-1)).toBe("ai done");
    expect(result.violations).toEqual([]);
    const log = logOf(directory);
    expect(["first ends", "second ends", "slow ends"].map((line) => count(log, line))).toEqual([1, 1, 1]);
    expect(["first begins", "slow begins"].map((line) => count(log, line))).toEqual([1, 2]);
    expect(count(log, "model asked with a message")).toBe(1);
  });

  test("R-02 only the model call that was under way is repeated", async () => {
    const directory = scratchDirectory();
    const options = { directory, durability, calls: ["first", "second"] };
    await killAgentAfter(
      { ...options, text: "Go.", hangs: "model" },
      { logged: "model asked with results", stored: ["first says 1", "second says 2"] },
    );
    const result = await runAgent(options);
    expect(result.results).toEqual(["first says 1", "second says 2"]);
    expect(result.outline.at(-1)).toBe("ai done");
    const log = logOf(directory);
    expect(["first begins", "second begins"].map((line) => count(log, line))).toEqual([1, 1]);
    expect(count(log, "model asked with a message")).toBe(1);
    expect(count(log, "model asked with results")).toBe(2);
  });
});

describe("kill -9 after an answer", () => {
  test("the answer is not asked for again", async () => {
    const directory = scratchDirectory();
    const options = { directory, calls: ["first", "asks_then_works"] };
    const paused = await runAgent({ ...options, text: "Go." });
    expect(paused.interrupts).toMatchObject([{ value: "Sure?" }]);
    await killAgentAfter(
      { ...options, resume: "certainly", hangs: "tool" },
      { logged: "works with certainly", stored: ["certainly"] },
    );
    const result = await runAgent(options);
    expect(result.interrupts).toEqual([]);
    expect(result.results).toEqual(["first says 1", "asks_then_works says certainly"]);
    const log = logOf(directory);
    expect(count(log, "works with certainly")).toBe(2);
    expect(count(log, "asks_then_works ends")).toBe(1);
    expect(count(log, "first begins")).toBe(1);
  });
});

describe("kill -9 and then a new message", () => {
  test("finished results are taken over, the call under way is closed truthfully", async () => {
    const directory = scratchDirectory();
    const options = { directory, calls: ["first", "slow", "second"] };
    await killAgentAfter(
      { ...options, text: "Go.", hangs: "tool" },
      { logged: "slow begins", stored: ["first says 1", "second says 2"] },
    );
    const result = await runAgent({ ...options, text: "Never mind." });
    expect(result.outline).toEqual([
      "human Go.",
      "ai → first slow second",
      "tool first ok",
      "tool slow failed",
      "tool second ok",
      "human Never mind.",
      "ai done",
    ]);
    expect(result.results[1]).toMatch(/did not complete\. It may have run in part/);
    expect(result.violations).toEqual([]);
    expect(count(logOf(directory), "slow begins")).toBe(1);
  });
});
