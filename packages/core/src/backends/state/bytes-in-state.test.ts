import { MemorySaver } from "@langchain/langgraph";
import { expect, test } from "vitest";
import { createDeepAgent, StateBackend } from "../../index.ts";
import { callTool, scriptedModel } from "../../testing/index.ts";

const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 255);
const encoded = Buffer.from(png).toString("base64");
const times = { created_at: "2025-01-01T00:00:00.000Z", modified_at: "2025-01-01T00:00:00.000Z" };
const read = (file_path: string) => callTool("read_file", { file_path });

test("bytes go into a thread, through its checkpoints and back as they are", async () => {
  const model = scriptedModel(
    [
      callTool("write_file", { file_path: "/written.png", content: encoded }),
      "done",
      read("/written.png"),
      read("/given.png"),
      "seen",
    ],
    { profile: { imageInputs: true, imageToolMessage: true } },
  );
  const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
  const thread = { configurable: { thread_id: "t" } };
  const files = { "/given.png": { content: png, mimeType: "image/png", ...times } };
  const first = await agent.invoke({ messages: "write", files }, thread);
  for (const path of ["/given.png", "/written.png"])
    expect(first.files[path]).toMatchObject({ content: png, mimeType: "image/png" });
  const second = await agent.invoke({ messages: "read" }, thread);
  expect(second.files["/written.png"]?.content).toEqual(png);
  const shown = second.messages.filter((message) => message.getType() === "tool").slice(-2);
  for (const message of shown) expect(JSON.stringify(message.content)).toContain("image/png");
});

test("a thread whose backend has fileFormat v1 keeps lines", async () => {
  const model = scriptedModel([
    callTool("write_file", { file_path: "/a.md", content: "one\ntwo" }),
    callTool("edit_file", { file_path: "/a.md", old_string: "two", new_string: "three" }),
    "done",
  ]);
  const agent = createDeepAgent({ model, backend: new StateBackend({ fileFormat: "v1" }) });
  const { files } = await agent.invoke({ messages: "go" });
  expect(files["/a.md"]?.content).toEqual(["one", "three"]);
});
