/** An abort with a command and a model at work three levels down: how long it takes, and what is written after it. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import { afterAll, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import { callTool, say } from "../testing/index.ts";
import { acts, asked, taskCall, tasks, troupe } from "./children-for-tests.ts";
import type { SubAgent } from "./spec.ts";

const root = mkdtempSync(join(tmpdir(), "abort-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SECONDS = 2;

function above(...names: readonly string[]): SubAgent {
  const [name = "", ...inner] = names;
  const middleware =
    inner.length === 0
      ? []
      : [createSubAgentMiddleware({ generalPurposeAgent: false, subagents: [above(...inner)] })];
  return { name, description: `The agent ${name}.`, middleware };
}

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** How long `body` took, without the time in which a busy machine did not let this process run. */
async function secondsOf(body: () => Promise<unknown>): Promise<number> {
  const step = 10;
  let [held, last] = [0, performance.now()];
  const start = last;
  const clock = setInterval(() => {
    held += Math.max(0, performance.now() - last - 2 * step);
    last = performance.now();
  }, step);
  await body();
  clearInterval(clock);
  return (performance.now() - start - held) / 1000;
}

test("everything has settled within two seconds, and nothing is written afterwards", async () => {
  const stop = new AbortController();
  let isAsked = false;
  const model = troupe({
    Go: acts(tasks(taskCall("One.", "one")), say("done")),
    One: acts(tasks(taskCall("Two.", "two")), say("done")),
    Two: acts(tasks(taskCall("Shell.", "three"), taskCall("Model.", "three")), say("done")),
    Shell: acts(
      callTool("execute", { command: "touch started; sleep 3; touch after; sleep 60" }),
      say("done"),
    ),
    Model: () => {
      isAsked = true;
      return { never: true };
    },
  });
  const saver = new MemorySaver();
  const agent = createDeepAgent({
    model,
    checkpointer: saver,
    backend: new LocalShellBackend({ rootDir: root }),
    subagents: [above("one", "two", "three")],
  });
  const run = agent
    .invoke(asked("Go."), { configurable: { thread_id: "t" }, signal: stop.signal })
    .catch((error: unknown) => error);
  while (!existsSync(join(root, "started")) || !isAsked) await wait(10);
  const seconds = await secondsOf(() => {
    stop.abort();
    return run;
  });
  expect(await run).toMatchObject({ name: "AbortError" });
  expect(seconds).toBeLessThan(SECONDS);
  const stored = () => JSON.stringify([saver.storage, saver.writes]);
  const [before, asking] = [stored(), model.callCount];
  await wait(4_000);
  expect(readdirSync(root)).toEqual(["started"]);
  expect(stored()).toBe(before);
  expect(model.callCount).toBe(asking);
});
