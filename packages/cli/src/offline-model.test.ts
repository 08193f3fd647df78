import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { checkRequest } from "deepwright/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { OfflineModel } from "./offline-model.ts";

const README = "# Garden\n\nPlants.\n\n## Use\n\n```sh\n# not a heading\n```\n";

function files(contents: Record<string, string>) {
  const data = (content: string) => ({ content, mimeType: "text/plain", created_at: "", modified_at: "" });
  return Object.fromEntries(Object.entries(contents).map(([path, content]) => [path, data(content)]));
}

const GARDEN = files({
  "/README.md": README,
  "/package.json": '{"name": "garden", "bin": {"garden": "./src/cli.ts"}}',
  "/src/cli.ts": "// TODO: water the roses\nrun();\n",
  "/src/roses.ts": "export const roses = 3;\n".repeat(40),
  "/notes/plan.txt": "FIXME: weeds\n",
});

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const ask = (task: string) => [{ role: "user", content: task }];

describe("the offline model in an agent", () => {
  it("plans, looks, reads, reports and finishes, its list always up to date", async () => {
    const agent = createDeepAgent({ model: new OfflineModel() });
    const result = await agent.invoke({
      messages: ask("Tell me about the roses in report.md"),
      files: GARDEN,
    });
    const report = result.files["/report.md"]?.content ?? "";
    expect(report).toContain("> Tell me about the roses in report.md");
    expect(report).toContain("5 files");
    expect(report).toContain("- .ts: 2");
    expect(report).toContain("- /src/cli.ts (package.json)");
    expect(report).toContain("- /src/roses.ts: 40 lines");
    expect(report).toContain("/src/cli.ts:1: // TODO: water the roses");
    expect(report).toContain("/notes/plan.txt:1: FIXME: weeds");
    expect(report).toMatch(/- Garden\n- .Use\n/);
    expect(report).not.toContain("not a heading");
    expect(result.todos.map(({ status }) => status)).toEqual(Array(4).fill("completed"));
    expect(result.messages.at(-1)?.text).toContain("I am the offline model, not an LLM");
    expect(result.messages.at(-1)?.text).toContain("/report.md");
    expect(result.outcome).toEqual({ kind: "done" });
    expect(checkRequest(result.messages)).toEqual([]);
  });

  it("says the same to the same, every time", async () => {
    const texts = new Set<string>();
    for (let i = 0; i < 2; i += 1) {
      const agent = createDeepAgent({ model: new OfflineModel() });
      const result = await agent.invoke({ messages: ask("roses, as report.md"), files: GARDEN });
      texts.add(
        JSON.stringify([result.files["/report.md"]?.content, result.messages.map(({ text }) => text)]),
      );
    }
    expect(texts.size).toBe(1);
  });

  it("works on an empty workspace, and beside a report that is there already", async () => {
    const agent = createDeepAgent({ model: new OfflineModel() });
    const empty = await agent.invoke({ messages: ask("Anything?") });
    expect(empty.messages.at(-1)?.text).toContain("The workspace is empty");
    const again = await agent.invoke({
      messages: ask("Again, write report.md"),
      files: files({ "/report.md": "mine" }),
    });
    expect(again.files["/report.md"]?.content).toBe("mine");
    expect(again.files["/report-2.md"]?.content).toContain("Report of the offline model");
  });

  it("reads past a picture, which is not taken for another task", async () => {
    const [pixel] = Object.values(files({ "/logo.png": PIXEL }));
    const result = await createDeepAgent({ model: new OfflineModel() }).invoke({
      messages: ask("Tell me about this in report.md"),
      files: { ...GARDEN, "/logo.png": { ...pixel, mimeType: "image/png" } } as never,
    });
    expect(result.outcome).toEqual({ kind: "done" });
    expect(result.files["/report.md"]?.content).toContain("> Tell me about this in report.md");
    expect(result.files["/report.md"]?.content).not.toContain("/logo.png: ");
  });

  it("makes do with the tools it is offered", async () => {
    const agent = createDeepAgent({
      model: new OfflineModel(),
      middleware: [
        { FilesystemMiddleware: false },
        { todoListMiddleware: false },
        { subAgentMiddleware: false },
      ],
    });
    const result = await agent.invoke({ messages: ask("Hello") });
    expect(result.messages).toHaveLength(2);
    expect(result.messages.at(-1)?.text).toContain("I am the offline model");
  });

  it("delegates once when there is somebody to delegate to", async () => {
    const asked: string[] = [];
    const task = tool(
      ({ description }: { description: string }) => {
        asked.push(description);
        return "A second pair of eyes agrees.";
      },
      {
        name: "task",
        description: "Delegates",
        schema: z.object({ description: z.string(), subagent_type: z.string() }),
      },
    );
    const agent = createDeepAgent({
      model: new OfflineModel(),
      tools: [task],
      middleware: [{ subAgentMiddleware: false }],
    });
    const result = await agent.invoke({ messages: ask("roses, as report.md"), files: GARDEN });
    expect(asked).toHaveLength(1);
    expect(result.files["/report.md"]?.content).toContain("> A second pair of eyes agrees.");
    const child = await createDeepAgent({ model: new OfflineModel() }).invoke({
      messages: ask(asked[0] ?? ""),
      files: GARDEN,
    });
    expect(child.files).not.toHaveProperty(["/report.md"]);
  });

  it("goes on when tools fail", async () => {
    const broken = (name: string) =>
      tool(
        () => {
          throw new Error("disk on fire");
        },
        { name, description: name, schema: z.object({}).passthrough() },
      );
    const agent = createDeepAgent({
      model: new OfflineModel(),
      middleware: [{ FilesystemMiddleware: false }],
      tools: ["ls", "glob", "grep", "read_file", "write_file"].map(broken),
    });
    const result = await agent.invoke({ messages: ask("Hello") });
    expect(result.messages.at(-1)?.text).toContain("# Report of the offline model");
    expect(result.outcome).toEqual({ kind: "done" });
  });
});

describe("the offline model by itself", () => {
  it("streams its words and reports no usage", async () => {
    const pieces: string[] = [];
    for await (const chunk of await new OfflineModel().stream([new HumanMessage("Hi")]))
      pieces.push(chunk.text);
    expect(pieces.length).toBeGreaterThan(10);
    const whole = await new OfflineModel().invoke([new HumanMessage("Hi")]);
    expect(pieces.join("")).toBe(whole.text);
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 0, output_tokens: 0 });
  });

  it("a new question in the same thread starts the routine anew", async () => {
    const model = new OfflineModel().bindTools([{ name: "ls", description: "", schema: z.object({}) }]);
    const call = { name: "ls", args: {}, id: "1", type: "tool_call" as const };
    const first = [
      new HumanMessage("One"),
      new AIMessage({ content: "", tool_calls: [call] }),
      new ToolMessage({ content: "/a.txt", tool_call_id: "1" }),
    ];
    expect((await model.invoke(first)).text).toContain("1 file");
    const reply = await model.invoke([...first, new AIMessage("Done"), new HumanMessage("Two")]);
    expect(reply.tool_calls).toMatchObject([{ name: "ls" }]);
  });
});
