/** Names that every JavaScript object inherits are names like any other, whoever gives them. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Annotation, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "./agent.ts";
import { priceOf } from "./budget/prices.ts";
import { clipsAmong } from "./context/compaction/compaction-state.ts";
import { mediaTokens } from "./context/tokens/token-media.ts";
import { failureOf } from "./loop/failures/model-failure.ts";
import { mergeAsyncTasks } from "./subagents/async/async-task.ts";
import { callTool, say, scriptedModel } from "./testing/index.ts";
import { pictureSize } from "./text/picture-size.ts";

const NAMES = ["constructor", "toString", "__proto__", "hasOwnProperty", "valueOf"];
const go = () => ({ messages: [new HumanMessage("Go.")] });
const onThread = { configurable: { thread_id: "t" } };
/** With `__proto__` as a key of its own, as it comes from JSON. */
const record = (key: string, value: unknown): Record<string, unknown> =>
  JSON.parse(`{${JSON.stringify(key)}: ${JSON.stringify(value)}}`);
const results = (messages: readonly unknown[]) => messages.filter(ToolMessage.isInstance);

describe.each(NAMES)("%s", (name) => {
  test("as a tool nobody has: the model is told so", async () => {
    const model = scriptedModel([callTool(name, record(name, 1)), say("done")]);
    const { messages } = await createDeepAgent({ model }).invoke(go());
    expect(results(messages)).toMatchObject([{ status: "error", text: expect.stringContaining(name) }]);
    expect(messages.at(-1)?.text).toBe("done");
  });

  test("as a tool: it runs, with limits and approvals by name", async () => {
    const own = tool(() => "ran", { name, description: "Runs.", schema: z.object({}) });
    const model = scriptedModel([callTool(name), say("done")]);
    const options = {
      toolTimeout: { other: 1 },
      toolConcurrency: { other: 1 },
      interruptOn: { other: true },
    };
    const agent = createDeepAgent({
      model,
      tools: [own],
      checkpointer: new MemorySaver(),
      ...options,
    } as never);
    const { messages } = await agent.invoke(go(), onThread);
    expect(results(messages)).toMatchObject([{ status: "success", text: "ran" }]);
  });

  test("as a subagent nobody has, and as one of the team", async () => {
    const order = { description: "Work.", subagent_type: name };
    const asking = () => scriptedModel([callTool("task", order), say("done")]);
    const { messages } = await createDeepAgent({ model: asking() }).invoke(go());
    expect(results(messages)).toMatchObject([{ status: "error" }]);
    const member = { name, description: "Works.", systemPrompt: "Work.", model: scriptedModel(["worked"]) };
    const team = await createDeepAgent({ model: asking(), subagents: [member] }).invoke(go());
    expect(results(team.messages)).toMatchObject([{ status: "success", text: "worked" }]);
  });

  test("as a file: written, listed, read, changed and deleted", async () => {
    const file_path = `/${name}`;
    const model = scriptedModel([
      callTool("read_file", { file_path }),
      callTool("write_file", { file_path, content: "one" }),
      callTool("edit_file", { file_path, old_string: "one", new_string: "two" }),
      callTool("ls", { path: "/" }),
      callTool("read_file", { file_path }),
      say("done"),
    ]);
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
    const { messages, files } = await agent.invoke(go(), onThread);
    expect(results(messages).map(({ status }) => status)).toEqual(["error", ...Array(4).fill("success")]);
    expect(results(messages).at(-1)?.text).toContain("two");
    expect(Object.keys(files)).toEqual([file_path]);
  });

  test("as a skill: listed once", async () => {
    const content = `---\nname: ${name}\ndescription: Is named so.\n---\nDo.`;
    const now = new Date().toISOString();
    const files = {
      [`/skills/${name}/SKILL.md`]: { content, mimeType: "text/plain", created_at: now, modified_at: now },
    };
    let prompt = "";
    const model = scriptedModel(({ messages }) => {
      prompt = messages[0]?.text ?? "";
      return say("done");
    });
    const agent = createDeepAgent({ model, skills: ["/skills/"] });
    await agent.invoke({ ...go(), files } as never);
    expect(prompt.split("Is named so.")).toHaveLength(2);
  });

  test("as a todo", async () => {
    const todos = [
      { content: name, status: "pending" },
      { content: name, status: name },
    ];
    const model = scriptedModel([callTool("write_todos", { todos }), say("done")]);
    const { messages } = await createDeepAgent({ model }).invoke(go());
    expect(results(messages)).toMatchObject([{ status: "error" }]);
  });

  test("as the id of a message and of a call", async () => {
    const model = scriptedModel([
      new AIMessage({
        id: name,
        content: "",
        tool_calls: [{ id: name, name: "ls", args: { path: "/" } }],
      }) as never,
      say("done"),
    ]);
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
    const { messages } = await agent.invoke(
      { messages: [new HumanMessage({ id: name, content: "Go." })] },
      onThread,
    );
    expect(messages.at(-1)?.text).toBe("done");
  });

  test("as a kind of content, a type of media and a provider in an answer", async () => {
    const blocks = [
      { type: name, text: "x" },
      { type: "text", text: "y" },
    ];
    const metadata = { model_provider: name };
    const said = new AIMessage({ content: blocks as never, response_metadata: metadata });
    const picture = { type: "image", mimeType: name, data: "iVBORw0KGgo=" };
    const question = new HumanMessage({ content: [{ type: "text", text: "Go." }, picture] as never });
    const model = scriptedModel(["done"], { check: false } as never);
    const { messages } = await createDeepAgent({ model }).invoke({ messages: ["Hi.", said, question] });
    expect(messages.at(-1)?.text).toBe("done");
    expect(mediaTokens({ type: name })).toBeUndefined();
    expect(pictureSize(new Uint8Array(40), name)).toBeUndefined();
  });

  test("as a key of input that the state does not have: ignored", async () => {
    const model = scriptedModel(["done"]);
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
    const state = await agent.invoke({ ...go(), ...record(name, { messages: "x" }) } as never, onThread);
    expect(state.messages.at(-1)?.text).toBe("done");
    await agent.updateState(onThread, record(name, { messages: ["smuggled"] }));
    expect((await agent.getState(onThread)).values.messages).toHaveLength(2);
    expect(Object.hasOwn(state, name)).toBe(false);
  });

  test("as the code of an error, the name of a model and the id of a task", () => {
    expect(failureOf(Object.assign(new Error("no"), { code: name })).kind).toBe("unknown");
    expect(failureOf(Object.assign(new Error("no"), { status: 400, code: name })).kind).toBe("invalid");
    expect(priceOf(name)).toBeUndefined();
    expect(clipsAmong({}, [new HumanMessage({ id: name, content: "x" })])).toBeUndefined();
    if (name === "__proto__") return;
    const task = { taskId: name, runId: "r", agentName: "a", status: "running" } as never;
    expect(mergeAsyncTasks({}, { [name]: task })[name]).toBe(task);
  });
});

test.each(NAMES)("%s as a key of the state is refused when the agent is made", (name) => {
  const spec = Object.fromEntries([[name, Annotation<string>()]]);
  const stateSchema = Annotation.Root(spec) as never;
  expect(() => createDeepAgent({ model: scriptedModel([]), stateSchema })).toThrow(
    expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining(name) }),
  );
});
