import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { NewSessionResponse } from "@agentclientprotocol/sdk";
import { serve } from "@deepwright/server";
import { tool } from "@langchain/core/tools";
import { interrupt, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { until } from "../../../../scripts/test-time.ts";
import { openLocal } from "../app/session/local-place.ts";
import { Session } from "../app/session/session.ts";
import { runBinary } from "../test-support/run-binary.ts";
import { type EditorOptions, isRunning, startEditor, workspaces } from "./editor-for-tests.ts";
import { scriptModel } from "./script-model-for-tests.ts";

async function desk(files: Readonly<Record<string, string>> = {}) {
  const [model, places] = await Promise.all([scriptModel(), workspaces()]);
  const cwd = await places.with(files);
  const args = ["--model", "openai:gpt-5.4", "--base-url", model.url, "--unstable"];
  const start = (options: Omit<EditorOptions, "cwd"> = {}) =>
    startEditor({ ...options, cwd, args, env: { ...places.env, ...options.env } });
  return { model, places, cwd, args, start };
}

/** A server of models on this machine, as LM Studio. */
async function localModels(...ids: string[]): Promise<string> {
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ data: ids.map((id) => ({ id })) })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

const call = (name: string, args: object): string => `call ${name} ${JSON.stringify(args)}`;
const execute = (command: string): string => call("execute", { command });
const text = (cwd: string, name: string): Promise<string> =>
  readFile(join(cwd, name), "utf8").catch(() => "");

const sdk = (path: string): string =>
  JSON.stringify(
    pathToFileURL(createRequire(import.meta.url).resolve(`@modelcontextprotocol/sdk/${path}`)).href,
  );
const SERVER = `
import mcp from ${sdk("server/mcp.js")};
import stdio from ${sdk("server/stdio.js")};
const server = new mcp.McpServer({ name: "notes", version: "1.0.0" });
const text = (words) => ({ content: [{ type: "text", text: words }] });
server.registerTool("look", { description: "Looks.", annotations: { readOnlyHint: true } }, () => text(process.env.SAYS));
server.registerTool("change", { description: "Changes." }, () => text("a change"));
await server.connect(new stdio.StdioServerTransport());
`;

test("after an editor crashed its commands are gone and its messages there, what waits is done once, and the terminal goes on", async () => {
  const { cwd, start, places, model, args } = await desk({ "server.mjs": SERVER });
  const neovim = await start({ name: "CodeCompanion.nvim" });
  const { sessionId: id } = await neovim.open(cwd);
  const todos = [{ content: "one thing", status: "pending" }];
  await neovim.prompt(id, `${call("write_todos", { todos })}\nsay planned`);
  expect(neovim.said(id)).toContain("☐ one thing");
  expect(neovim.kinds(id)).not.toContain("plan");
  const other = await neovim.open(cwd);
  const cut = [
    neovim.prompt(id, execute("echo $$ > pid; sleep 5151")),
    neovim.prompt(other.sessionId, execute("echo once >> log")),
  ].map((turn) => turn.catch(() => "lost"));
  const asked = new Promise<void>((resolve) => {
    neovim.permit = ({ toolCall }) => {
      if (!toolCall.title?.includes("once")) return "allow_once";
      resolve();
      return new Promise(() => {});
    };
  });
  await asked;
  await until(() => text(cwd, "pid"));
  await neovim.kill();
  expect(await Promise.all(cut)).toEqual(["lost", "lost"]);
  await until(async () => !(await isRunning("sleep 5151")));

  const env = { LMSTUDIO_BASE_URL: await localModels("qwen3-coder") };
  const [one, two] = await Promise.all([start({ name: "JetBrains", env }), start()]);
  const servers = [
    {
      name: "my notes",
      command: process.execPath,
      args: [join(cwd, "server.mjs")],
      env: [{ name: "SAYS", value: "a look" }],
    },
  ];
  const there = { sessionId: id, cwd, mcpServers: servers };
  const { configOptions } = await one.agent.request<NewSessionResponse>("session/load", there);
  const models = configOptions?.find((option) => option.id === "model");
  expect(JSON.stringify(models)).toContain("lmstudio:qwen3-coder");
  await one.heard();
  const messages = one
    .of(id)
    .flatMap((update) =>
      update.sessionUpdate === "user_message_chunk" && update.content.type === "text"
        ? [update.content.text]
        : [],
    );
  expect(messages).toHaveLength(2);
  expect(messages[1]).toContain("sleep 5151");
  const before = one.permissions.length;
  await one.prompt(id, `${call("mcp__my-notes__look", {})}\n${call("mcp__my-notes__change", {})}\nsay used`);
  expect(JSON.stringify([...one.calls(id).values()])).toContain("a look");
  expect(one.permissions.slice(before).map(({ toolCall }) => toolCall.title)).toEqual([
    "mcp__my-notes__change",
  ]);

  const waiting = { sessionId: other.sessionId, cwd, mcpServers: [] };
  await Promise.all([one, two].map((editor) => editor.agent.request("session/load", waiting)));
  await until(() => two.said(other.sessionId).includes("/continue"));
  let ready = 0;
  for (const editor of [one, two])
    editor.permit = async () => {
      ready++;
      await until(() => ready >= 2);
      return "allow_once";
    };
  await Promise.allSettled([one, two].map((editor) => editor.prompt(other.sessionId, "/continue")));
  await until(() => text(cwd, "log"));
  expect(await text(cwd, "log")).toBe("once\n");

  const working = two.prompt(other.sessionId, execute("sleep 6161")).catch(() => "lost");
  await until(() => isRunning("sleep 6161"));
  await two.hangUp();
  expect(await working).toBe("lost");
  expect(await isRunning("sleep 6161")).toBe(false);
  expect((await two.ended).stderr).not.toContain("rror");

  expect(one.initialized.agentCapabilities?.sessionCapabilities).toHaveProperty("fork");
  const copy = await one.agent.request<{ sessionId: string }>("session/fork", { sessionId: id, cwd });
  await one.prompt(copy.sessionId, "say only in the copy");
  expect(one.said(copy.sessionId)).toBe("only in the copy");
  await one.agent.request("session/close", { sessionId: id });
  const environment = { ...process.env, ...places.env };
  const db = join(places.env.DEEPWRIGHT_HOME, "state.db");
  const place = await openLocal(
    { directory: cwd, model: args[1], baseUrl: model.url, db, mcp: false },
    environment,
  );
  onTestFinished(() => place.close());
  const failures: string[] = [];
  const events = { onChange: () => {}, onEnd: () => {}, onFailure: (words: string) => failures.push(words) };
  const terminal = new Session(place, cwd, "ask", events);
  await terminal.open(id);
  await terminal.say("say from the terminal");
  await terminal.idle();
  expect(failures).toEqual([]);
  expect(terminal.screen.main.messages.at(-1)?.text).toBe("from the terminal");
  const words = terminal.screen.main.messages.map((message) => message.text);
  expect(words.some((text) => text.includes("sleep 5151"))).toBe(true);
  expect(words).not.toContain("only in the copy");
});

test("a question of an agent is a form, or a text that the next message answers", async () => {
  const places = await workspaces();
  const cwd = await places.with();
  const color = tool(() => `color ${interrupt({ question: "Which color?", options: ["red", "blue"] })}`, {
    name: "ask_color",
    description: "Asks.",
    schema: z.object({}),
  });
  const agent = createDeepAgent({
    model: scriptedModel(({ messages }) => {
      const last = messages.at(-1);
      return last?.type === "tool" ? say(last.text) : callTool("ask_color", {});
    }),
    tools: [color],
    checkpointer: new MemorySaver(),
  });
  const server = await serve({
    agents: { agent: agent as never },
    port: 0,
    database: ":memory:",
    token: "token-token-token-token-token-token",
  });
  onTestFinished(() => server.close());
  const args = ["--connect", server.url];
  const env = { ...places.env, DEEPWRIGHT_SERVER_TOKEN: "token-token-token-token-token-token" };
  const editor = await startEditor({ cwd, args, env, capabilities: { elicitation: { form: {} } } });
  const { sessionId: id, modes, configOptions } = await editor.open(cwd);
  expect([modes, configOptions?.map((option) => option.id)]).toEqual([undefined, ["model"]]);
  const forms: unknown[] = [];
  editor.elicit = (request) => {
    forms.push(request);
    return { action: "accept", content: { answer: "blue" } };
  };
  expect(await editor.prompt(id, "go")).toEqual({ stopReason: "end_turn" });
  expect(forms).toMatchObject([
    { message: "Which color?", requestedSchema: { properties: { answer: { enum: ["red", "blue"] } } } },
  ]);
  expect(editor.said(id)).toBe("color blue");
  editor.elicit = () => ({ action: "decline" });
  expect(await editor.prompt(id, "go")).toEqual({ stopReason: "end_turn" });
  expect(editor.said(id)).toContain("Which color?");
  await editor.prompt(id, "red");
  expect(editor.said(id)).toMatch(/color red$/);
  const { sessions } = await editor.agent.request("session/list", { cwd });
  expect(sessions).toMatchObject([{ sessionId: id, cwd, title: "go" }]);
});

test("without a model the editor is told to authenticate, and the settings to paste are those of the editor", async () => {
  const { cwd, places } = await desk();
  const none = { ...places.env, OPENAI_API_KEY: "" };
  const editor = await startEditor({ cwd, env: none });
  await expect(editor.open(cwd)).rejects.toMatchObject({ code: -32_000 });
  await expect(editor.agent.request("authenticate", { methodId: "api-key" })).rejects.toMatchObject({
    code: -32_000,
  });
  await expect(editor.agent.request("authenticate", { methodId: "other" })).rejects.toMatchObject({
    code: -32_602,
  });
  const signIn = await runBinary(["login", "openai"], { cwd, env: none, stdin: "sk-of-an-editor\n" });
  expect(signIn.code).toBe(0);
  expect(await editor.agent.request("authenticate", { methodId: "api-key" })).toEqual({});
  expect(await editor.agent.request("logout", {})).toEqual({});
  await expect(editor.agent.request("authenticate", { methodId: "api-key" })).rejects.toMatchObject({
    code: -32_000,
  });
  expect((await runBinary(["login", "--list"], { cwd, env: none })).stderr).toContain("No key is stored");
  const [zed, jetbrains, neovim] = await Promise.all(
    ["zed", "jetbrains", "neovim"].map(async (name) => {
      const { code, stdout } = await runBinary(["acp", "--mode", "plan", "--print-config", name], { cwd });
      expect(code).toBe(0);
      return stdout;
    }),
  );
  const agent = { command: "deepwright", args: ["acp", "--mode", "plan"], env: {} };
  expect(JSON.parse(zed ?? "")).toEqual({ agent_servers: { Deepwright: { type: "custom", ...agent } } });
  expect(JSON.parse(jetbrains ?? "")).toEqual({ agent_servers: { Deepwright: agent } });
  expect(neovim).toContain('commands = { default = { "deepwright", "acp", "--mode", "plan" } }');
});
