/** An abort with a command and a model at work three levels down: how long it takes, and what is written after it. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemorySaver } from "@langchain/langgraph";
import { afterAll, expect, test } from "vitest";
import { until, withinLimit } from "../../../../scripts/test-time.ts";
import { createDeepAgent } from "../agent.ts";
import { LocalShellBackend } from "../backends/shell/local-shell.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import { callTool, say } from "../testing/index.ts";
import { acts, asked, taskCall, tasks, troupe } from "./children-for-tests.ts";
import type { SubAgent } from "./spec.ts";

const directory = mkdtempSync(join(tmpdir(), "abort-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function above(...names: readonly string[]): SubAgent {
  const [name = "", ...inner] = names;
  const middleware =
    inner.length === 0
      ? []
      : [createSubAgentMiddleware({ generalPurposeAgent: false, subagents: [above(...inner)] })];
  return { name, description: `The agent ${name}.`, middleware };
}

interface Scene {
  readonly root: string;
  readonly saver: MemorySaver;
  readonly model: ReturnType<typeof troupe>;
  readonly stop: AbortController;
  readonly run: Promise<unknown>;
}

/** A run whose command and whose model are at work. */
async function working(): Promise<Scene> {
  const root = mkdtempSync(join(directory, "run-"));
  const stop = new AbortController();
  let isAsked = false;
  const model = troupe({
    Go: acts(tasks(taskCall("One.", "one")), say("done")),
    One: acts(tasks(taskCall("Two.", "two")), say("done")),
    Two: acts(tasks(taskCall("Shell.", "three"), taskCall("Model.", "three")), say("done")),
    Shell: acts(callTool("execute", { command: "echo $$ > started; sleep 600; touch after" }), say("done")),
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
  await until(() => shellOf(root) > 0 && isAsked);
  return { root, saver, model, stop, run };
}

/** The process of the command, 0 before it has started. */
function shellOf(root: string): number {
  const file = join(root, "started");
  return existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("everything has settled within two seconds, and nothing is written afterwards", async () => {
  const prepared = [await working()];
  const { root, saver, model, run } = await withinLimit(
    "a run with a command and a model three levels down is aborted",
    async () => {
      const scene = prepared.pop() ?? (await working());
      scene.stop.abort();
      await scene.run;
      return scene;
    },
  );
  expect(await run).toMatchObject({ name: "AbortError" });
  const stored = () => JSON.stringify([saver.storage, saver.writes]);
  const [before, asking] = [stored(), model.callCount];
  await until(() => !isAlive(shellOf(root)));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(readdirSync(root)).toEqual(["started"]);
  expect(stored()).toBe(before);
  expect(model.callCount).toBe(asking);
});
