import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, MemorySaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { createDeepAgent } from "../../agent.ts";
import { callTool, say, scriptedModel } from "../../testing/index.ts";
import { diskTree } from "./disk-tree-for-tests.ts";
import { FilesystemBackend } from "./filesystem.ts";

const thread = { configurable: { thread_id: "t" } };
const go = { messages: [{ role: "user", content: "go" }] };
const yes = new Command({ resume: { decisions: [{ type: "approve" }] } });

function agentOn(root: string, turn: ReturnType<typeof callTool>, tool?: string) {
  return createDeepAgent({
    model: scriptedModel([turn, say("done")]),
    backend: new FilesystemBackend({ rootDir: root, virtualMode: true }),
    checkpointer: new MemorySaver(),
    ...(tool !== undefined && { interruptOn: { [tool]: true } }),
  });
}

it("a file that steers other programs is written by the call a person approved, and by no other", async () => {
  const { root } = diskTree();
  const write = callTool("write_file", { file_path: "/.envrc", content: "export A=1" });
  await agentOn(root, write).invoke(go, thread);
  expect(existsSync(join(root, ".envrc"))).toBe(false);
  const asking = agentOn(root, write, "write_file");
  await asking.invoke(go, thread);
  await asking.invoke(yes, thread);
  expect(readFileSync(join(root, ".envrc"), "utf8")).toBe("export A=1");
});

it("approving that a directory goes does not approve of the files in it that steer other programs", async () => {
  const { root } = diskTree();
  mkdirSync(join(root, "work"));
  writeFileSync(join(root, "work/.envrc"), "export A=1");
  const asking = agentOn(root, callTool("delete", { file_path: "/work" }), "delete");
  await asking.invoke(go, thread);
  const { messages } = await asking.invoke(yes, thread);
  expect(messages.find((message) => message.type === "tool")).toMatchObject({ status: "error" });
  expect(existsSync(join(root, "work/.envrc"))).toBe(true);
});
