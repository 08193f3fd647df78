import { InMemoryStore } from "@langchain/langgraph";
import { afterEach, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { createDeepAgent } from "../../agent.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";
import { anyTool } from "../children-for-tests.ts";
import { backgroundTasks } from "./background-tasks.ts";
import { background, gate, supervisor, talk } from "./supervisors-for-tests.ts";

afterEach(() => backgroundTasks().close());

const order = { description: "Go.", subagent_type: "researcher" };
const input = { messages: [{ role: "user", content: `start_async_task ${JSON.stringify(order)}` }] };

test("a background run has the context, the store and the caller's own keys, and nothing else of the run", async () => {
  const seen: any[] = [];
  const look = anyTool("look", (_, runtime) => {
    seen.push(runtime);
    return "seen";
  });
  const research = createDeepAgent({ model: scriptedModel([callTool("look"), "Done."]), tools: [look] });
  const store = new InMemoryStore();
  const stop = new AbortController();
  await supervisor({ asyncAgents: { research }, store }).invoke(input, {
    configurable: { thread_id: "hand-on", tenant: "acme" },
    context: { user: "ann" },
    signal: stop.signal,
    metadata: { only: "the outer run" },
  });
  stop.abort();
  await backgroundTasks().idle();
  const [{ context, configurable, config, store: given, signal }] = seen;
  expect(context).toEqual({ user: "ann" });
  expect((configurable ?? config.configurable).tenant).toBe("acme");
  expect((configurable ?? config.configurable).thread_id).not.toBe("hand-on");
  expect(given ?? config.store).toBeDefined();
  expect(signal.aborted).toBe(false);
  expect(config?.metadata?.only).toBeUndefined();
});

test("the permission ceiling of the supervisor holds in the background", async () => {
  const write = (file_path: string) => callTool("write_file", { file_path, content: "x" });
  const research = createDeepAgent({
    model: scriptedModel(({ messages, turn }) =>
      turn === 0
        ? write("/secret/a")
        : turn === 1
          ? write("/open/a")
          : messages.map(({ text }) => text).join("\n"),
    ),
  });
  const agent = supervisor({
    asyncAgents: { research },
    permissionCeiling: [{ operations: ["write"], paths: ["/secret/**"], mode: "deny" }],
  });
  const thread = talk(agent, "ceiling");
  await thread.one("start_async_task", order);
  await backgroundTasks().idle();
  const [task] = await thread.tasks();
  const { text } = await thread.one("check_async_task", { task_id: task?.taskId });
  expect(text).toContain("permission denied for write on /secret/a");
  expect(text).toContain("Successfully wrote to '/open/a'");
});

test("more than sixty-four tasks wait their turn", async () => {
  const all = gate();
  const research = background(async (said) => {
    await all.opened;
    return said;
  });
  const thread = talk(supervisor({ asyncAgents: { research } }), "crowd");
  await thread.call(...Array.from({ length: 66 }, () => ["start_async_task", order] as const));
  await until(
    async () =>
      (await thread.one("list_async_tasks", { status_filter: "running" })).text.split("\n").length === 64,
  );
  expect((await thread.one("list_async_tasks", { status_filter: "pending" })).text.split("\n")).toHaveLength(
    2,
  );
  const [pending] = (await thread.tasks()).filter(({ status }) => status === "pending");
  expect((await thread.one("cancel_async_task", { task_id: pending?.taskId })).text).toContain(
    "is cancelled",
  );
  all.open();
  await backgroundTasks().idle();
  await thread.tell("And?");
  expect(await thread.heard()).toHaveLength(65);
});

test("a function makes its agent at the first task, and is asked again when it failed", async () => {
  let asked = 0;
  const research = async () => {
    asked += 1;
    if (asked === 1) throw new Error("not yet");
    return background(() => "Found.");
  };
  const thread = talk(supervisor({ asyncAgents: { research } }), "lazy");
  expect(asked).toBe(0);
  for (const words of [/error\nnot yet/, /success\nFound\./]) {
    await thread.one("start_async_task", order);
    await backgroundTasks().idle();
    const task = (await thread.tasks()).at(-1);
    expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toMatch(words);
  }
});

test("a task that waits for a person says so", async () => {
  const dig = anyTool("dig", () => "dug");
  const research = createDeepAgent({
    model: scriptedModel([callTool("dig"), "Done."]),
    tools: [dig],
    interruptOn: { dig: true },
  });
  const thread = talk(supervisor({ asyncAgents: { research } }), "asks");
  await thread.one("start_async_task", order);
  await backgroundTasks().idle();
  await thread.tell("And?");
  expect(await thread.heard()).toEqual([expect.stringContaining("waits for a person's decision")]);
  const [task] = await thread.tasks();
  expect((await thread.one("check_async_task", { task_id: task?.taskId })).text).toContain(": interrupted");
});
