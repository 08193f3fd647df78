/** Todos with completion checks: a real shell runs the commands, a scripted model claims what it likes. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command, MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { shellIn } from "../backends/shell/shell-for-tests.ts";
import { createTodoListMiddleware, type TodoListMiddlewareOptions } from "../middleware/todo-list.ts";
import { callTool, type Script, say, scriptedModel } from "../testing/index.ts";
import type { Check, CheckedTodo } from "./check.ts";

const ask = (text = "Go.") => ({ messages: [new HumanMessage(text)] });
const T = { configurable: { thread_id: "t" } };

const todo = (status: CheckedTodo["status"], check?: Check, content = "the work") =>
  check === undefined ? { content, status } : { content, status, check };
const todos = (...list: unknown[]) => callTool("write_todos", { todos: list });
const write = (path: string, content = "x") => callTool("write_file", { file_path: path, content });

function checked(
  script: Script,
  more: Record<string, unknown> = {},
  options: TodoListMiddlewareOptions = {},
) {
  const model = scriptedModel(script, { check: { ids: true } });
  const backend = shellIn();
  const middleware = [createTodoListMiddleware({ checks: true, ...options })];
  return { model, backend, agent: createDeepAgent({ model, backend, middleware, ...more } as never) };
}

type State = Awaited<ReturnType<ReturnType<typeof checked>["agent"]["invoke"]>> & Record<string, any>;

const results = (state: State) =>
  state.messages.filter((message: unknown) => ToolMessage.isInstance(message)) as ToolMessage[];
const statuses = (state: State) => state.todos.map(({ status }: { status: string }) => status);
const lastRequest = (model: ReturnType<typeof scriptedModel>) =>
  model.calls
    .at(-1)
    ?.messages.map((message) => message.text)
    .join("\n");

const THERE: Check = { command: "test -f done.txt" };

describe("completing a todo", () => {
  test("waits for its check, whose output the model reads, and then succeeds", async () => {
    const check = { command: "echo looking; cat done.txt" };
    const { agent } = checked([
      todos(todo("completed", check)),
      write("/done.txt"),
      todos(todo("completed", check)),
      say("Ready."),
    ]);
    const state: State = await agent.invoke(ask());
    const [early, , late] = results(state);
    expect(early).toMatchObject({ status: "error" });
    expect(early?.text).toMatch(
      /1 in progress.*Not completed: "the work".*looking.*No such file.*exit code 1/s,
    );
    expect(late).toMatchObject({ status: "success", text: expect.stringContaining("1 completed") });
    expect([statuses(state), state.outcome.kind]).toEqual([["completed"], "done"]);
  });

  test.each<[string, Check, string, RegExp | undefined]>([
    ["a file that is there", { file: "/a.json" }, "{}", undefined],
    ["a relative path", { file: "a.json" }, "{}", undefined],
    ["a file that is not there", { file: "/b" }, "{}", /not found/i],
    ["a file that must not be there", { file: "/b", absent: true }, "{}", undefined],
    ["a file that is there although it must not be", { file: "/a.json", absent: true }, "{}", /is there/],
    ["text that it contains", { file: "/a.json", contains: "42" }, "a 42 b", undefined],
    ["text that it does not contain", { file: "/a.json", contains: "43" }, "a 42 b", /does not contain "43"/],
    ["a schema that fits", { file: "/a.json", json_schema: '{"required":["n"]}' }, '{"n":1}', undefined],
    [
      "a schema that does not",
      { file: "/a.json", json_schema: '{"required":["n"]}' },
      "{}",
      /JSON schema.*"n"/s,
    ],
    ["text that is not JSON", { file: "/a.json", json_schema: "{}" }, "{", /is not JSON/],
    ["a path outside", { file: "/../../etc/passwd" }, "{}", /etc\/passwd/],
  ])("looks at %s", async (_, check, content, failure) => {
    const { agent } = checked(
      [write("/a.json", content), todos(todo("completed", check)), say("Ready.")],
      {},
      {
        checkAttempts: 0,
      },
    );
    const state: State = await agent.invoke(ask());
    const result = results(state)[1];
    expect(result?.status).toBe(failure ? "error" : "success");
    if (failure) expect(result?.text).toMatch(failure);
    expect(state.outcome.kind).toBe(failure ? "unverified" : "done");
  });

  test.each<[string, unknown, RegExp]>([
    ["neither a command nor a file", {}, /either `command` or `file`/],
    ["both", { command: "x", file: "/y" }, /either `command` or `file`/],
    ["a condition of a command", { command: "x", contains: "y" }, /go with `file`/],
    ["two conditions", { file: "/x", contains: "y", absent: true }, /one of/],
    [
      "a schema with a pattern",
      { file: "/x", json_schema: '{"items":{"pattern":"(a+)+$"}}' },
      /cannot use 'pattern'/,
    ],
    ["a schema that is not JSON", { file: "/x", json_schema: "{" }, /must be an object/],
    ["an unknown kind", { command: 7 }, /check\.command/],
  ])("refuses a check with %s, and changes nothing", async (_, check, words) => {
    const { agent } = checked([todos(todo("pending", check as Check)), say("Well.")]);
    const state: State = await agent.invoke(ask());
    expect(results(state)[0]).toMatchObject({ status: "error", text: expect.stringMatching(words) });
    expect([state.todos, state.outcome.kind]).toEqual([[], "done"]);
  });

  test("shows the end of a long output", async () => {
    const { agent } = checked(
      [todos(todo("completed", { command: "seq 2000; exit 3" })), say("Well.")],
      {},
      {
        checkAttempts: 0,
      },
    );
    const text = results(await agent.invoke(ask()))[0]?.text ?? "";
    expect(text.length).toBeLessThan(4_000);
    expect(text).toMatch(/characters left out.*2000\n\[Failed: exit code 3\]/s);
  });
});

describe("the end of a run", () => {
  test("sends a model back that claims to be done, with what fails", async () => {
    const { agent, model } = checked([
      todos(todo("in_progress", THERE)),
      say("All done!"),
      write("/done.txt"),
      say("Now it is."),
    ]);
    const state: State = await agent.invoke(ask());
    expect(model.calls[2]?.messages.at(-1)?.text).toMatch(
      /completion checks.*do not pass.*test -f done\.txt/s,
    );
    expect([state.outcome.kind, state.messages.at(-1)?.text]).toEqual(["done", "Now it is."]);
  });

  test("is unverified when the model insists, and the todo is not completed", async () => {
    const { agent, model } = checked(
      [todos(todo("completed", THERE)), say("1"), say("2"), say("3")],
      {},
      {
        checkAttempts: 2,
      },
    );
    const state: State = await agent.invoke(ask());
    expect(state.outcome).toMatchObject({
      kind: "unverified",
      detail: expect.stringContaining("test -f done.txt"),
    });
    expect([statuses(state), model.callCount]).toEqual([["in_progress"], 4]);
  });

  test("does not count evidence from before the last edit", async () => {
    const { agent } = checked(
      [
        write("/done.txt"),
        todos(todo("completed", { file: "/done.txt" })),
        callTool("delete", { file_path: "/done.txt" }),
        say("Done."),
      ],
      {},
      { checkAttempts: 0 },
    );
    const state: State = await agent.invoke(ask());
    expect([state.outcome.kind, statuses(state)]).toEqual(["unverified", ["in_progress"]]);
  });

  test("does not count evidence of a check when the check of another todo changed the files later", async () => {
    const first = todo("completed", THERE, "first");
    const { agent } = checked(
      [
        write("/done.txt"),
        todos(first),
        todos(first, todo("completed", { command: "rm done.txt" }, "second")),
        say("Done."),
      ],
      {},
      { checkAttempts: 0 },
    );
    const state: State = await agent.invoke(ask());
    expect(state.outcome.detail).toContain("first");
  });

  test("runs no check again whose evidence is fresh", async () => {
    const check = { command: "echo x >> runs; true" };
    const { agent, backend } = checked([todos(todo("completed", check)), callTool("ls", {}), say("Done.")]);
    expect((await agent.invoke(ask())).outcome.kind).toBe("done");
    expect((await backend.execute("cat runs")).output).toBe("x\n");
  });

  test("holds a run to the checks its caller gave", async () => {
    const { agent } = checked([say("Done."), write("/done.txt"), say("Done.")]);
    const state: State = await agent.invoke({ ...ask(), todos: [todo("pending", THERE)] } as never);
    expect(state.outcome.kind).toBe("done");
    expect(results(state).map(({ name }) => name)).toEqual(["write_file"]);
  });

  test("leaves an end for another reason as it is", async () => {
    const { agent } = checked([todos(todo("pending", THERE)), say("")]);
    expect((await agent.invoke(ask())).outcome.kind).toBe("empty");
  });

  test("a later run starts without the checks that the run before has proven", async () => {
    const { agent } = checked(
      [
        write("/done.txt"),
        todos(todo("completed", THERE)),
        say("Done."),
        callTool("delete", { file_path: "/done.txt" }),
        say("Tidied."),
      ],
      { checkpointer: new MemorySaver() },
    );
    await agent.invoke(ask(), T);
    const state: State = await agent.invoke(ask("Tidy up."), T);
    expect([state.outcome.kind, state.todos]).toEqual(["done", [todo("completed")]]);
  });
});

describe("dropping a check", () => {
  const drop = [
    todos(todo("in_progress", THERE)),
    todos(todo("in_progress", { command: "true" })),
    say("Done."),
  ];

  test("is refused where nobody can be asked", async () => {
    const { agent } = checked(drop, {}, { checkAttempts: 0 });
    const state: State = await agent.invoke(ask());
    expect(results(state)[1]).toMatchObject({
      status: "error",
      text: expect.stringContaining("only when a person"),
    });
    expect([state.todos[0]?.check, state.outcome.kind]).toEqual([THERE, "unverified"]);
  });

  test.each([
    ["approve", "done", { command: "true" }],
    ["reject", "unverified", THERE],
  ])("is asked about: %s", async (type, kind, check) => {
    const { agent } = checked(drop, { checkpointer: new MemorySaver() }, { checkAttempts: 0 });
    const waiting: State = await agent.invoke(ask(), T);
    const [question] = (waiting.__interrupt__ as any)[0].value.actionRequests;
    expect(question.description).toMatch(
      /drop completion checks:\n- the work: `test -f done\.txt` exits with 0/,
    );
    const state: State = await agent.invoke(new Command({ resume: { decisions: [{ type }] } }) as never, T);
    expect([state.outcome.kind, state.todos[0]?.check]).toEqual([kind, check]);
  });

  test("a todo that says nothing about its check keeps it", async () => {
    const { agent } = checked(
      [todos(todo("pending", THERE)), todos(todo("completed")), say("Done.")],
      {},
      {
        checkAttempts: 0,
      },
    );
    const state: State = await agent.invoke(ask());
    expect(state.todos).toEqual([todo("in_progress", THERE)]);
  });
});

describe("commands of checks are calls of execute", () => {
  test("a person is asked about them, and the approval of one call is used once", async () => {
    const check = { command: "echo x >> runs" };
    const { agent, backend } = checked(
      [todos(todo("completed", check)), write("/later.txt"), say("Done.")],
      { checkpointer: new MemorySaver(), interruptOn: { execute: true } },
      { checkAttempts: 0 },
    );
    const waiting: State = await agent.invoke(ask(), T);
    const [question] = (waiting.__interrupt__ as any)[0].value.actionRequests;
    expect([question.name, question.description]).toEqual([
      "write_todos",
      expect.stringContaining("echo x >> runs"),
    ]);
    const state: State = await agent.invoke(
      new Command({ resume: { decisions: [{ type: "approve" }] } }) as never,
      T,
    );
    expect((await backend.execute("cat runs")).output).toBe("x\n");
    expect(state.outcome.kind).toBe("unverified");
  });

  test("a rejected one does not run", async () => {
    const { agent, backend } = checked(
      [todos(todo("completed", { command: "touch ran" })), say("Done.")],
      { checkpointer: new MemorySaver(), interruptOn: { execute: true } },
      { checkAttempts: 0 },
    );
    await agent.invoke(ask(), T);
    await agent.invoke(new Command({ resume: { decisions: [{ type: "reject" }] } }) as never, T);
    expect((await backend.execute("test -e ran")).exitCode).toBe(1);
  });

  test("middleware around tool calls sees them, and may refuse them", async () => {
    const seen: string[] = [];
    const guard = {
      name: "Guard",
      wrapToolCall: (request: any, handler: any) => {
        seen.push(`${request.toolCall.name} ${request.toolCall.args.command ?? ""}`.trim());
        const refusal = { content: "No commands today.", tool_call_id: request.toolCall.id, status: "error" };
        return request.toolCall.name === "execute" ? new ToolMessage(refusal as never) : handler(request);
      },
    };
    const middleware = [createTodoListMiddleware({ checks: true, checkAttempts: 0 }), guard];
    const { agent } = checked([todos(todo("completed", { command: "true" })), say("Done.")], { middleware });
    const state: State = await agent.invoke(ask());
    expect(results(state)[0]?.text).toContain("No commands today.");
    expect(seen).toEqual(["write_todos", "execute true", "execute true"]);
  });

  test("they keep the time limit of execute, also in a slot of their own call", async () => {
    const { agent } = checked(
      [todos(todo("completed", { command: "sleep 600" })), say("Done.")],
      { toolTimeout: 0.3, toolConcurrency: 1 },
      { checkAttempts: 0 },
    );
    const state: State = await agent.invoke(ask());
    expect(results(state)[0]?.text).toContain("timed out after 0.3 s");
  });

  test("permissions hold for the files of checks", async () => {
    const { agent } = checked(
      [todos(todo("completed", { file: "/secret/key" })), say("Done.")],
      {
        backend: undefined,
        permissions: [{ operations: ["read", "write"], paths: ["/secret/**"], mode: "deny" }],
      },
      { checkAttempts: 0 },
    );
    const state: State = await agent.invoke(ask());
    expect(results(state)[0]?.text).toMatch(/permission denied/i);
  });

  test("an agent that cannot run commands says so", async () => {
    const { agent } = checked(
      [todos(todo("completed", { command: "true" })), say("Done.")],
      { backend: undefined },
      {
        checkAttempts: 0,
      },
    );
    expect(results(await agent.invoke(ask()))[0]?.text).toContain("There is no tool 'execute'");
  });
});

test("without the option nothing is said of checks, and a check in a todo is dropped unread", async () => {
  const model = scriptedModel([todos(todo("completed", THERE)), say("Done.")]);
  const agent = createDeepAgent({ model, backend: shellIn() });
  const state: State = await agent.invoke(ask());
  expect([state.todos, state.outcome.kind]).toEqual([[todo("completed")], "done"]);
  expect(lastRequest(model)).not.toMatch(/\bcheck/);
});

test("LangChain's createAgent refuses the middleware when a run starts", async () => {
  const middleware = [createTodoListMiddleware({ checks: true })];
  const agent = createAgent({ model: scriptedModel([say("x")]), middleware });
  await expect(agent.invoke(ask())).rejects.toMatchObject({ code: "NOT_SUPPORTED" });
});

test("a crash after the checks leaves a thread that goes on", async () => {
  const checkpointer = new MemorySaver();
  const { agent } = checked([todos(todo("pending", THERE)), say("Done."), write("/done.txt"), say("Done.")], {
    checkpointer,
  });
  const stream = await agent.stream(
    ask() as never,
    { ...T, streamMode: "updates", durability: "sync" } as never,
  );
  for await (const update of stream) if ("after_agent" in (update as object)) break;
  const state: State = await agent.invoke(null as never, T);
  expect(state.outcome.kind).toBe("done");
  expect(state.messages.filter((message: unknown) => AIMessage.isInstance(message))).toHaveLength(4);
});
