/**
 * An agent as it goes into production: commands run in a sandbox of the operating system that sees one directory and no
 * network, no file gets larger than 5 MB, what the harness puts aside stays in the state, long results are evicted, and a
 * person agrees before a command runs or a file is written.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/production.ts
 */
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSandbox } from "@deepwright/sandboxes";
import { osSandbox } from "@deepwright/sandboxes/os";
import { Command, MemorySaver } from "@langchain/langgraph";
import {
  type ApprovalRequest,
  CompositeBackend,
  createDeepAgent,
  createFilesystemMiddleware,
  type Decision,
  StateBackend,
} from "deepwright";
import { callTool } from "deepwright/testing";
import { modelOrScript } from "./support/model.ts";

const workspace = await mkdtemp(join(tmpdir(), "production-"));
await using sandbox = createSandbox({
  // To move to a cloud, change this line: modalSandbox({…}) of "@deepwright/sandboxes/modal", and so on.
  provider: osSandbox({ rootDir: workspace, limits: { fileSizeMb: 5 } }),
  ttl: 900,
});

const agent = createDeepAgent({
  model: modelOrScript([
    callTool("write_file", { file_path: "/workspace/sort.sh", content: "sort -n\n" }),
    callTool("execute", { command: "printf '10\\n9\\n1\\n' | sh sort.sh | tr '\\n' ' '" }),
    callTool("execute", { command: "seq 1 2000000 > big" }),
    callTool("execute", { command: "seq 1 20000" }),
    callTool("write_file", { file_path: "/notes/result.md", content: "It sorts.\n" }),
    callTool("execute", { command: "rm -rf /workspace" }),
    "It sorts; the note is in /notes/result.md.",
  ]),
  backend: new CompositeBackend(sandbox, {
    // Commands see the workspace and nothing of these, which live in the state of the thread.
    "/notes/": new StateBackend(),
    "/workspace/.deepwright/": new StateBackend(),
  }),
  middleware: [createFilesystemMiddleware({ toolTokenLimitBeforeEvict: 10_000 })],
  interruptOn: { execute: true, write_file: true },
  checkpointer: new MemorySaver(),
});

/** What a person would choose on a screen. */
function decide({ actionRequests }: ApprovalRequest): Decision[] {
  return actionRequests.map(({ name, args }) => {
    const isBad = String(args.command).includes("rm -rf");
    console.log(isBad ? "rejected:" : "approved:", name, args.file_path ?? args.command);
    return isBad ? { type: "reject", message: "Keep the files." } : { type: "approve" };
  });
}

const thread = { configurable: { thread_id: "production-1" }, version: "v2" } as const;
const order = "Write a script that sorts numbers, try it, make a large file, and note whether it sorts.";
let answer = await agent.invoke({ messages: [{ role: "user", content: order }] }, thread);
while (answer.interrupts.length > 0) {
  const decisions = decide(answer.interrupts[0]?.value as ApprovalRequest);
  answer = await agent.invoke(new Command({ resume: { decisions } }), thread);
}
for (const { type, name, text } of answer.value.messages)
  if (type === "tool") console.log(`${name}: ${text.split("\n").slice(0, 2).join(" ").slice(0, 90)}`);
console.log(answer.value.messages.at(-1)?.text);
console.log("in the state:", Object.keys(answer.value.files ?? {}).join(", "));
await sandbox.close({ keep: false });
console.log("in the workspace:", (await readdir(workspace)).join(", "));
await rm(workspace, { recursive: true });
