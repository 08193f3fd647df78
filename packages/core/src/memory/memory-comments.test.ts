import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { StateBackend } from "../backends/state/state.ts";
import { createFilesystemMiddleware } from "../middleware/filesystem.ts";
import { callTool, say } from "../testing/index.ts";
import { memoryAgent, promptOf, remindersIn, thread, user, workspace } from "./agents-for-tests.ts";
import { standInFor } from "./comments.ts";

const shownIn = (messages: readonly BaseMessage[]): string =>
  /<memory_file[^>]*>\n([\s\S]*?)<\/memory_file>/.exec(messages[0]?.text ?? "")?.[1] ?? "";

describe("comments in memory", () => {
  const mark = "<!-- sync:42 -->";
  const text = `# Notes\n${mark}\n- one\n`;

  it("are not shown, and survive that the model writes the shown text back", async () => {
    const root = await workspace({ "AGENTS.md": text });
    const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
    const { agent, calls } = memoryAgent(
      { sources: ["/AGENTS.md"], backend },
      ({ messages, turn }) =>
        turn > 0
          ? say("done")
          : callTool("write_file", { file_path: "/AGENTS.md", content: `${shownIn(messages)}- two\n` }),
      { middleware: [createFilesystemMiddleware({ overwrite: true })] },
    );
    await agent.invoke(user("go"));
    expect(promptOf(calls[0])).toContain(standInFor(mark));
    expect(promptOf(calls[0])).not.toContain("sync:42");
    expect(promptOf(calls[0])).toContain("stands for a comment that programs need");
    expect(await readFile(join(root, "AGENTS.md"), "utf8")).toBe(`${text}- two\n`);
    expect(remindersIn(calls[1])[0]).toContain("- two");
    expect(remindersIn(calls[1])[0]).not.toContain("lost comments");
  });

  it.each([new StateBackend(), undefined])("survive in the state of the thread as well", async (backend) => {
    const { agent, calls } = memoryAgent(
      { sources: ["/AGENTS.md"], ...(backend && { backend }) },
      ({ messages, turn }) =>
        turn > 0
          ? say("done")
          : callTool("write_file", { file_path: "/AGENTS.md", content: `${shownIn(messages)}- two\n` }),
      { middleware: [createFilesystemMiddleware({ overwrite: true })] },
    );
    const result = await agent.invoke({ ...user("go"), files: { "/AGENTS.md": { content: text } } } as never);
    expect((result as any).files["/AGENTS.md"].content).toBe(`${text}- two\n`);
    expect(remindersIn(calls[1])).toHaveLength(1);
  });

  it("that the model destroys are named to it", async () => {
    const root = await workspace({ "AGENTS.md": text });
    const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
    const { agent, calls } = memoryAgent(
      { sources: ["/AGENTS.md"], backend },
      [
        callTool("write_file", { file_path: "/AGENTS.md", content: "# New\n" }),
        callTool("edit_file", {
          file_path: "/AGENTS.md",
          old_string: "# New\n",
          new_string: `# New\n${mark}\n`,
        }),
        say("done"),
      ],
      { middleware: [createFilesystemMiddleware({ overwrite: true })] },
    );
    await agent.invoke(user("go"));
    expect(remindersIn(calls[1])[0]).toContain(
      "lost comments that programs need. Unless that was asked for, put them back.",
    );
    expect(remindersIn(calls[1])[0]).toContain(mark);
    expect(remindersIn(calls[2])).toHaveLength(2);
    expect(remindersIn(calls[2])[1]).not.toContain("lost");
  });

  it("that a person removed between two runs are not missed", async () => {
    const root = await workspace({ "AGENTS.md": text });
    const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
    const checkpointer = new MemorySaver();
    const { agent, calls } = memoryAgent({ sources: ["/AGENTS.md"], backend }, ["one", "two"], {
      checkpointer,
    });
    await agent.invoke(user("a"), thread);
    await writeFile(join(root, "AGENTS.md"), "# Notes\n- one\n");
    await agent.invoke(user("b"), thread);
    expect(remindersIn(calls[1])).toHaveLength(1);
    expect(remindersIn(calls[1])[0]).not.toContain("lost");
  });

  it("are explained to a model whose edit did not match because of them", async () => {
    const root = await workspace({ "AGENTS.md": text });
    const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
    const old_string = `# Notes\n${standInFor(mark)}\n`;
    const { agent, calls } = memoryAgent({ sources: ["/AGENTS.md"], backend }, [
      callTool("edit_file", { file_path: "/AGENTS.md", old_string, new_string: "# Facts\n" }),
      callTool("edit_file", { file_path: "/AGENTS.md", old_string: "nowhere", new_string: "" }),
      say("done"),
    ]);
    await agent.invoke(user("go"));
    const results = calls[2]?.messages.filter((message) => message.type === "tool").map(({ text }) => text);
    expect(results?.[0]).toContain("only stands for a comment");
    expect(results?.[1]).not.toContain("comment");
    expect(await readFile(join(root, "AGENTS.md"), "utf8")).toBe(text);
  });
});
