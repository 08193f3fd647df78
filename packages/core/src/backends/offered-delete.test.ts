/** Programs that check writes and know nothing of `delete`. */
import { Command, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { ask, onThread } from "../loop/fixtures/agents.ts";
import { PolicyBackend } from "../permissions/policy/policy.ts";
import { callTool, say, scriptedModel } from "../testing/index.ts";
import type { BackendProtocol, DeleteResult, WriteResult } from "./backend.ts";
import { CompositeBackend } from "./composite/composite.ts";
import { MapBackend } from "./file-map/map-backend.ts";

const FILES = { "/src/a.ts": "let a;", "/notes.md": "notes" };

class GuardedWrites extends MapBackend {
  override async write(path: string, content: string): Promise<WriteResult> {
    if (path.startsWith("/src/")) return { error: "/src is closed", code: "PERMISSION_DENIED" };
    return super.write(path, content);
  }
}

class GuardedAll extends GuardedWrites {
  override async delete(path: string): Promise<DeleteResult> {
    if (path.startsWith("/src")) return { error: "/src is closed", code: "PERMISSION_DENIED" };
    return super.delete(path);
  }
}

async function afterDelete(backend: BackendProtocol, path: string) {
  const model = scriptedModel(({ turn }) =>
    turn === 0 ? callTool("delete", { file_path: path }) : say("done"),
  );
  const agent = createDeepAgent({ model, backend });
  const { messages } = await agent.invoke(ask());
  const names = model.calls[0]?.tools.map((tool) => (tool as { name: string }).name);
  return { result: messages.find((message) => message.type === "tool")?.text ?? "", names };
}

describe("a subclass that overrides write and inherits delete", () => {
  const wrappers: Record<string, (backend: BackendProtocol) => BackendProtocol> = {
    alone: (backend) => backend,
    "in a composite": (backend) => new CompositeBackend(backend, {}),
    "behind a policy": (backend) => new PolicyBackend(backend, {}),
  };
  test.each(Object.entries(wrappers))("offers no delete, %s", async (_, wrap) => {
    const inner = new GuardedWrites(FILES);
    const { result, names } = await afterDelete(wrap(inner), "/src");
    expect(names).toContain("write_file");
    expect(names).not.toContain("delete");
    expect(result).not.toContain("Successfully");
    expect(await inner.read("/src/a.ts")).toMatchObject({ content: "let a;" });
  });

  test("offers it when it overrides that as well", async () => {
    const inner = new GuardedAll(FILES);
    expect((await afterDelete(inner, "/src")).result).toContain("/src is closed");
    expect((await afterDelete(inner, "/notes.md")).result).toContain("Successfully deleted");
  });
});

describe("interruptOn without delete", () => {
  const interrupts = async (interruptOn: Record<string, boolean>) => {
    const agent = createDeepAgent({
      model: scriptedModel(({ turn }) =>
        turn === 0 ? callTool("delete", { file_path: "/src" }) : say("done"),
      ),
      backend: new MapBackend(FILES),
      interruptOn,
      checkpointer: new MemorySaver(),
    });
    const result = (await agent.invoke(ask(), onThread("t"))) as { __interrupt__?: { value: unknown }[] };
    return { agent, asked: result.__interrupt__ !== undefined };
  };

  test.each([
    [{ write_file: true }, true],
    [{ edit_file: true }, true],
    [{ write_file: true, delete: false }, false],
    [{ execute: true }, false],
    [{ write_file: false, edit_file: false, execute: true }, false],
    [{ "d*": false, write_file: true }, false],
  ])("%j asks about a delete: %s", async (interruptOn, expected) => {
    expect((await interrupts(interruptOn as Record<string, boolean>)).asked).toBe(expected);
  });

  test("a rejected delete removes nothing", async () => {
    const { agent } = await interrupts({ write_file: true });
    const { messages } = await agent.invoke(
      new Command({ resume: { decisions: [{ type: "reject" }] } }),
      onThread("t"),
    );
    expect(messages.find((message) => message.type === "tool")?.text).not.toContain("Successfully");
  });
});
