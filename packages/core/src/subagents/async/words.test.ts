import { expect, test } from "vitest";
import { background, supervisor } from "./supervisors-for-tests.ts";
import { endWords } from "./words.ts";

test("what the model is told of background tasks", () => {
  const { systemPrompt, tools } = supervisor({ asyncAgents: { research: background(() => "x") } }).describe();
  expect(systemPrompt.slice(systemPrompt.indexOf("## Background"))).toMatchInlineSnapshot(`
    "## Background tasks
    \`start_async_task\` has a subagent work in the background while you go on talking with the user. After starting tasks, tell the user what was started and end your turn: do not check at once and do not wait. Check when the user asks, or when a message says that a task has ended. What you remember of a task may be old: before you speak of its state, look with \`check_async_task\` or \`list_async_tasks\`. Name tasks by their whole ids."
  `);
  const words = tools
    .filter(({ name }) => name.includes("async"))
    .map((tool) => `${tool.name}: ${tool.description}`);
  expect(words.join("\n")).toMatchInlineSnapshot(`
    "start_async_task: Have a subagent do a task in the background; gives the task's id at once. It knows nothing of this conversation: say what to do, everything it needs to know, and what to report. Independent tasks belong in one turn.
    Types:
    - researcher: Looks things up.
    check_async_task: The status of a background task, and its result when it is done.
    update_async_task: Give a background task another instruction. It keeps what it has done so far and goes on with this; one that is done takes it as a follow-up.
    cancel_async_task: Stop a background task. What it has done so far is not undone.
    list_async_tasks: All background tasks of this conversation with their present status."
  `);
  const tokens = tools
    .filter(({ name }) => name.includes("async"))
    .reduce((sum, tool) => sum + tool.tokens, 0);
  expect(tokens).toBeLessThan(600);
  expect(endWords("researcher", "t1", "success")).toMatchInlineSnapshot(
    `"[Background task t1 ('researcher') is done. \`check_async_task\` tells more.]"`,
  );
});
