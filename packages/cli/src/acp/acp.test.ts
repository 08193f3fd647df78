import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { type EditorOptions, isRunning, startEditor, workspaces } from "./editor-for-tests.ts";
import { scriptModel } from "./script-model-for-tests.ts";

/** One editor with all abilities for most tests: each test has a session and a directory of its own. */
const shared = (async () => {
  const [model, places] = await Promise.all([scriptModel(), workspaces()]);
  const start = (options: Omit<EditorOptions, "cwd"> = {}) =>
    startEditor({
      ...options,
      cwd: places.base,
      args: ["--model", "openai:gpt-5.4", "--base-url", model.url, ...(options.args ?? [])],
      env: { ...places.env, ...options.env },
    });
  const editor = await start({
    name: "Zed",
    capabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
      auth: { terminal: true },
      elicitation: { form: {} },
      session: { notices: {} },
    },
  });
  return { model, places, start, editor };
})();

async function session(files: Readonly<Record<string, string>> = {}) {
  const all = await shared;
  const cwd = await all.places.with(files);
  all.editor.permit = () => "allow_once";
  const opened = await all.editor.open(cwd);
  return { ...all, cwd, opened, id: opened.sessionId };
}

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const call = (name: string, args: object): string => `call ${name} ${JSON.stringify(args)}`;
const write = (file: string, content = "text\n") => call("write_file", { file_path: file, content });
const text = (cwd: string, name: string): Promise<string> => readFile(join(cwd, name), "utf8");
const isThere = (cwd: string, name: string): Promise<boolean> =>
  text(cwd, name).then(
    () => true,
    () => false,
  );

test("an editor learns what is there, and of a session nothing before the answer that names it", async () => {
  const { editor, id, opened, cwd } = await session();
  expect(editor.initialized).toMatchObject({
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      auth: { logout: {} },
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
    authMethods: [{ type: "terminal", id: "login" }, { id: "api-key" }],
  });
  expect(editor.initialized.agentCapabilities?.sessionCapabilities).not.toHaveProperty("fork");
  expect(await editor.agent.request("authenticate", { methodId: "api-key" })).toEqual({});
  expect(opened.modes?.availableModes.map((mode) => mode.id)).toEqual([
    "ask",
    "accept-edits",
    "plan",
    "auto",
  ]);
  expect(opened.configOptions?.map((option) => option.id)).toEqual(["mode", "model", "effort", "commands"]);
  await until(() => editor.kinds(id).includes("available_commands_update"));
  const named = editor.lines.findIndex(
    ({ result }) => (result as { sessionId?: string } | undefined)?.sessionId === id,
  );
  const first = editor.lines.findIndex(({ params }) => params?.sessionId === id);
  expect(named).toBeGreaterThan(-1);
  expect(first).toBeGreaterThan(named);
  await expect(editor.open("relative")).rejects.toMatchObject({ code: -32_602 });
  await expect(editor.open(join(cwd, "nowhere"))).rejects.toThrow("no directory");
});

test("an unknown session is said to be unknown by every method", async () => {
  const { editor, cwd } = await session();
  const sessionId = "7f3d9c1e-0000-4000-8000-000000000000";
  const there = { sessionId, cwd, mcpServers: [] };
  for (const asked of [
    editor.prompt(sessionId, "say x"),
    editor.agent.request("session/load", there),
    editor.agent.request("session/resume", there),
    editor.agent.request("session/set_mode", { sessionId, modeId: "plan" }),
    editor.agent.request("session/set_config_option", { sessionId, configId: "mode", value: "plan" }),
  ])
    await expect(asked).rejects.toMatchObject({ code: -32_002, data: { sessionId } });
  await editor.agent.notify("session/cancel", { sessionId });
});

test("a prompt takes texts, pictures, links and embedded files to the model", async () => {
  const { editor, id, cwd, model } = await session();
  const prompt: ContentBlock[] = [
    { type: "text", text: "say seen" },
    { type: "image", mimeType: "image/png", data: PIXEL },
    { type: "resource_link", name: "a.ts", uri: `file://${cwd}/src/a.ts` },
    { type: "resource_link", name: "docs", uri: "https://example.com/docs" },
    { type: "resource", resource: { uri: `file://${cwd}/b.md`, text: "```\ncode\n```\n" } },
  ];
  expect(await editor.agent.request("session/prompt", { sessionId: id, prompt })).toEqual({
    stopReason: "end_turn",
  });
  expect(editor.said(id)).toBe("seen");
  const content = model.requests.at(-1)?.messages.findLast(({ role }) => role === "user")?.content;
  expect(content).toMatchObject([
    { type: "text", text: "say seen" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
    { type: "text", text: "@/src/a.ts" },
    { type: "text", text: "[docs](https://example.com/docs)" },
    { type: "text", text: "````/b.md\n```\ncode\n```\n````" },
  ]);
  const sound: ContentBlock[] = [{ type: "audio", mimeType: "audio/wav", data: "" }];
  await expect(
    editor.agent.request("session/prompt", { sessionId: id, prompt: sound }),
  ).rejects.toMatchObject({
    code: -32_602,
  });
});

test("calls show their kind, place, change and output; what was allowed for longer is not asked about again", async () => {
  const { editor, id, cwd } = await session({ "a.txt": "one\ntwo\n" });
  const before = editor.permissions.length;
  editor.permit = ({ options }) =>
    options.find(({ name }) => name.includes("`touch b`, in this thread"))?.optionId ?? "allow_once";
  const steps = [
    call("read_file", { file_path: "/a.txt" }),
    call("edit_file", { file_path: "/a.txt", old_string: "two", new_string: "three" }),
    call("execute", { command: "touch b" }),
    call("execute", { command: "touch b c" }),
    call("execute", { command: "echo out > d; cat d" }),
  ];
  expect(await editor.prompt(id, [...steps, "say all done"].join("\n"))).toEqual({ stopReason: "end_turn" });
  editor.permit = () => "allow_once";
  expect(await text(cwd, "a.txt")).toBe("one\nthree\n");
  const [read, edit, , , output] = [...editor.calls(id).values()];
  expect(read).toMatchObject({
    kind: "read",
    status: "completed",
    locations: [{ path: join(cwd, "a.txt") }],
  });
  expect(edit).toMatchObject({
    kind: "edit",
    status: "completed",
    content: [{ type: "diff", path: join(cwd, "a.txt"), oldText: "two", newText: "three" }],
  });
  expect(JSON.stringify(output?.content)).toContain("out");
  const asked = editor.permissions.slice(before);
  expect(asked.map(({ toolCall }) => toolCall.title)).toEqual([
    "edit_file /a.txt",
    "execute touch b",
    "execute echo out > d; cat d",
  ]);
  expect(asked[0]?.toolCall.locations).toEqual([{ path: join(cwd, "a.txt"), line: 2 }]);
  expect(asked[1]?.options.map(({ kind }) => kind)).toEqual([
    "allow_once",
    "reject_once",
    ...Array(4).fill("allow_always"),
  ]);
  expect(editor.of(id).find(({ sessionUpdate }) => sessionUpdate === "usage_update")).toMatchObject({
    used: 1_000,
  });
});

test("a call runs by an answer that was offered, and by no other", async () => {
  const { editor, id, cwd } = await session();
  editor.permit = () => "reject_once";
  await editor.prompt(id, write("/refused"));
  expect(await isThere(cwd, "refused")).toBe(false);
  expect([...editor.calls(id).values()].at(-1)?.status).toBe("failed");
  editor.permit = () => undefined;
  expect(await editor.prompt(id, write("/closed"))).toEqual({ stopReason: "cancelled" });
  editor.permit = () => "allow_once";
  expect(await isThere(cwd, "closed")).toBe(false);
  expect(await editor.prompt(id, "/continue")).toEqual({ stopReason: "end_turn" });
  expect(await isThere(cwd, "closed")).toBe(true);
});

test("modes are enforced, whichever way they are set", async () => {
  const { editor, id, cwd } = await session();
  const before = editor.permissions.length;
  await editor.agent.request("session/set_mode", { sessionId: id, modeId: "plan" });
  await editor.prompt(id, write("/planned"));
  expect(await isThere(cwd, "planned")).toBe(false);
  const { configOptions } = await editor.agent.request("session/set_config_option", {
    ...{ sessionId: id, configId: "mode", value: "accept-edits" },
  });
  expect(configOptions.find((option) => option.id === "mode")).toMatchObject({
    currentValue: "accept-edits",
  });
  await editor.prompt(id, write("/edited"));
  expect(await isThere(cwd, "edited")).toBe(true);
  expect(editor.permissions.length).toBe(before);
  await editor.prompt(id, "/mode ask");
  await editor.prompt(id, write("/asked"));
  expect(editor.permissions.length).toBe(before + 1);
  const modes = editor
    .of(id)
    .flatMap((update) => (update.sessionUpdate === "current_mode_update" ? [update.currentModeId] : []));
  expect(modes).toEqual(["plan", "accept-edits", "ask"]);
  for (const asked of [
    editor.agent.request("session/set_mode", { sessionId: id, modeId: "yolo" }),
    editor.agent.request("session/set_config_option", {
      sessionId: id,
      configId: "model",
      value: "other:model",
    }),
  ])
    await expect(asked).rejects.toMatchObject({ code: -32_602 });
});

test("a cancel ends the turn of its session with its command, and no other session", async () => {
  const [one, other] = [await session(), await session()];
  const { editor, model } = one;
  const working = editor.prompt(
    one.id,
    `${call("execute", { command: "echo $$ > pid; sleep 4242" })}\nsay never`,
  );
  const held = editor.prompt(other.id, "hold slowly said");
  await until(() => isThere(one.cwd, "pid"));
  await expect(editor.prompt(one.id, "say meanwhile")).rejects.toMatchObject({ code: -32_600 });
  await editor.agent.notify("session/cancel", { sessionId: one.id });
  expect(await working).toEqual({ stopReason: "cancelled" });
  expect(await isRunning("sleep 4242")).toBe(false);
  model.release();
  expect(await held).toEqual({ stopReason: "end_turn" });
  expect(editor.said(other.id)).toBe("slowly said");
  expect(await editor.prompt(one.id, "say again")).toEqual({ stopReason: "end_turn" });
  expect(editor.said(one.id)).toBe("again");
});

test("a cancel takes an open question back", async () => {
  const { editor, id, cwd } = await session();
  const asked = new Promise<void>((resolve) => {
    editor.permit = async () => {
      resolve();
      await cancelled;
      return "allow_once";
    };
  });
  let done = (): void => {};
  const cancelled = new Promise<void>((resolve) => {
    done = resolve;
  });
  const working = editor.prompt(id, write("/late"));
  await asked;
  await editor.agent.notify("session/cancel", { sessionId: id });
  expect(await working).toEqual({ stopReason: "cancelled" });
  done();
  editor.permit = () => "allow_once";
  await editor.prompt(id, "say next");
  expect(await isThere(cwd, "late")).toBe(false);
});

test("todos are a plan, a subagent is one call, and its questions have calls of their own", async () => {
  const { editor, id, cwd } = await session({ "a.txt": "x" });
  const before = editor.permissions.length;
  const todos = [
    { content: "look", status: "completed" },
    { content: "change", status: "in_progress" },
  ];
  const description = `${call("read_file", { file_path: "/a.txt" })}\n${write("/by-child")}\nsay the child is done`;
  const steps = [
    call("write_todos", { todos }),
    call("task", { subagent_type: "general-purpose", description }),
  ];
  // The lines of the description are lines of the prompt, too: the JSON keeps them on one.
  await editor.prompt(id, steps.join("\n"));
  expect(await isThere(cwd, "by-child")).toBe(true);
  expect(editor.of(id).find(({ sessionUpdate }) => sessionUpdate === "plan")).toMatchObject({
    entries: [
      { content: "look", status: "completed" },
      { content: "change", status: "in_progress" },
    ],
  });
  const calls = [...editor.calls(id).values()];
  const task = calls.find(({ name }) => name === "task");
  expect(task).toMatchObject({
    kind: "think",
    status: "completed",
    _meta: { deepwright: { status: "done" } },
  });
  const nested = editor
    .of(id)
    .filter(
      (update) => update.sessionUpdate === "tool_call_update" && update.toolCallId === task?.toolCallId,
    );
  expect(JSON.stringify(nested)).toContain("● read_file /a.txt");
  expect(JSON.stringify(task?.content)).toContain("the child is done");
  const [asked] = editor.permissions.slice(before);
  expect(asked?.toolCall.toolCallId).not.toBe(task?.toolCallId);
  expect(editor.calls(id).get(asked?.toolCall.toolCallId as string)?.status).toBe("completed");
});

test("the effort reaches the provider, and commands run in a terminal of the editor where the person chose so", async () => {
  const { editor, id, cwd, model } = await session();
  const choose = (configId: string, value: string) =>
    editor.agent.request("session/set_config_option", { sessionId: id, configId, value });
  await choose("effort", "high");
  await choose("commands", "editor");
  await choose("mode", "auto");
  const before = editor.permissions.length;
  await editor.prompt(id, `${call("execute", { command: "echo from the editor; pwd" })}\nsay done`);
  expect(model.requests.at(-1)?.reasoning_effort).toBe("high");
  // A terminal is no sandbox: even `auto` asks.
  expect(editor.permissions.length).toBe(before + 1);
  const [shown] = editor.calls(id).values();
  const [terminal] = shown?.content ?? [];
  expect(terminal).toMatchObject({ type: "terminal" });
  expect(editor.terminals.get((terminal as { terminalId: string }).terminalId)?.shown().output).toBe(
    `from the editor\n${cwd}\n`,
  );
});

test("the output of a command is shown while it runs", async () => {
  const { editor, id, cwd } = await session();
  const command = "echo first line; while [ ! -e go ]; do sleep 0.1; done; echo second line";
  const working = editor.prompt(id, call("execute", { command }));
  const content = () => JSON.stringify([...editor.calls(id).values()].at(-1)?.content);
  await until(() => content()?.includes("first line"));
  expect([...editor.calls(id).values()].at(-1)?.status).toBe("in_progress");
  await writeFile(join(cwd, "go"), "");
  expect(await working).toEqual({ stopReason: "end_turn" });
  expect(content()).toContain("second line");
});

test("an open buffer counts before the file, and is saved before it is changed", async () => {
  const { editor, id, cwd, model } = await session({ "a.txt": "on disk\n", "b.txt": "same\n" });
  const path = join(cwd, "a.txt");
  editor.buffers.set(path, "typed in the editor\nand more\n");
  editor.buffers.set(join(cwd, "b.txt"), "same");
  const edit = { file_path: "/a.txt", old_string: "typed", new_string: "changed" };
  await editor.prompt(id, [call("read_file", { file_path: "/a.txt" }), call("edit_file", edit)].join("\n"));
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("typed in the editor");
  expect(await text(cwd, "a.txt")).toBe("changed in the editor\nand more\n");
  expect(editor.buffers.get(path)).toBe("changed in the editor\nand more\n");
  await editor.prompt(id, "/undo");
  expect(await text(cwd, "a.txt")).not.toContain("changed");
});

test("while a command runs no file goes through the editor, which would follow a link of the command", async () => {
  const { editor, id, cwd } = await session({ "a.txt": "on disk\n" });
  const { sessionId: other } = await editor.open(cwd);
  const command = "touch begun; while [ ! -e go ]; do sleep 0.1; done";
  const working = editor.prompt(id, call("execute", { command }));
  await until(() => isThere(cwd, "begun"));
  editor.buffers.set(join(cwd, "a.txt"), "read through a link\n");
  const edit = { file_path: "/a.txt", old_string: "on disk", new_string: "changed" };
  await editor.prompt(other, [write("/b.txt"), call("edit_file", edit)].join("\n"));
  expect(await text(cwd, "a.txt")).toBe("changed\n");
  expect(await text(cwd, "b.txt")).toBe("text\n");
  const throughEditor = () => editor.written.map(({ path }) => path).filter((path) => path.startsWith(cwd));
  expect(throughEditor()).toEqual([]);
  await writeFile(join(cwd, "go"), "");
  await working;
  await editor.prompt(other, write("/c.txt"));
  expect(throughEditor()).toEqual([join(cwd, "c.txt")]);
});

test("sessions are listed, closed, loaded with their messages, resumed without them, and deleted", async () => {
  const { editor, id, cwd } = await session();
  const there = { sessionId: id, cwd, mcpServers: [] };
  await editor.prompt(id, `${call("ls", { path: "/" })}\nsay the answer`);
  const { sessions } = await editor.agent.request("session/list", { cwd });
  expect(sessions).toMatchObject([{ sessionId: id, cwd, title: expect.stringContaining("say the answer") }]);
  await editor.agent.request("session/close", { sessionId: id });
  await expect(editor.prompt(id, "say x")).rejects.toMatchObject({ code: -32_002 });
  const heard = editor.updates.length;
  const loaded = await editor.agent.request("session/load", there);
  await editor.heard();
  expect(loaded).toMatchObject({ modes: { currentModeId: "ask" } });
  const replayed = editor.updates.slice(heard).map(({ update }) => update.sessionUpdate);
  expect(replayed.slice(0, 3)).toEqual(["user_message_chunk", "tool_call", "agent_message_chunk"]);
  await editor.agent.request("session/close", { sessionId: id });
  const later = editor.updates.length;
  await editor.agent.request("session/resume", there);
  await editor.prompt(id, "say more");
  const resumed = editor.updates.slice(later).map(({ update }) => update);
  expect(resumed.some(({ sessionUpdate }) => sessionUpdate === "user_message_chunk")).toBe(false);
  expect(JSON.stringify(resumed)).not.toContain("the answer");
  await editor.agent.request("session/delete", { sessionId: id });
  expect((await editor.agent.request("session/list", { cwd })).sessions).toEqual([]);
  await expect(editor.agent.request("session/load", there)).rejects.toMatchObject({ code: -32_002 });
});

test("commands behind a slash answer in words, and those of the person are filled in", async () => {
  const { editor, places, model, cwd } = await session();
  await mkdir(join(places.env.DEEPWRIGHT_HOME, "commands"), { recursive: true });
  await writeFile(join(places.env.DEEPWRIGHT_HOME, "commands", "repeat.md"), "say $ARGUMENTS");
  const { sessionId: id } = await editor.open(cwd);
  await until(() => editor.kinds(id).includes("available_commands_update"));
  const [offered] = editor
    .of(id)
    .flatMap((update) =>
      update.sessionUpdate === "available_commands_update"
        ? [update.availableCommands.map(({ name }) => name)]
        : [],
    );
  expect(offered).toEqual(expect.arrayContaining(["mode", "undo", "continue", "repeat"]));
  const asked = model.requests.length;
  await editor.prompt(id, "/sandbox");
  expect(editor.said(id)).toContain(`directory ${cwd}`);
  expect(model.requests.length).toBe(asked);
  await editor.prompt(id, "/repeat these words");
  expect(editor.said(id)).toContain("these words");
});
