/**
 * Todos with completion checks: the model says "done" too early, reads why that is not so, and does the rest. A second
 * model insists, and its run ends unverified.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/completion-checks.ts
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDeepAgent, createTodoListMiddleware, LocalShellBackend } from "deepwright";
import { modelOrScript } from "./support/model.ts";

const rootDir = mkdtempSync(join(tmpdir(), "completion-checks-"));
const task = {
  messages: [{ role: "user" as const, content: "Write a script hello.sh that prints Hello." }],
  todos: [
    {
      content: "hello.sh prints Hello",
      status: "pending" as const,
      check: { command: "sh hello.sh | grep Hello" },
    },
  ],
};

async function work(model: ReturnType<typeof modelOrScript>): Promise<void> {
  const backend = new LocalShellBackend({ rootDir, virtualMode: true });
  const middleware = [createTodoListMiddleware({ checks: true, checkAttempts: 1 })];
  const { outcome, messages } = await createDeepAgent({ model, backend, middleware }).invoke(task);
  console.log(`${outcome.kind}: ${messages.at(-1)?.text}`);
  if (outcome.detail) console.log(outcome.detail);
  await backend.close();
}

await work(modelOrScript(() => "I wrote it, all done!"));
const script = { file_path: "/hello.sh", content: "echo Hello" };
await work(
  modelOrScript([
    "I wrote it, all done!",
    { toolCalls: [{ name: "write_file", args: script }] },
    "Now the script is there.",
  ]),
);
rmSync(rootDir, { recursive: true });
