/** The coupling point of an app, with real files, real commands and a database on disk. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteSaver } from "@deepwright/checkpoint/sqlite";
import { decodeEvents, parseEventName } from "@deepwright/protocol";
import { MemorySaver } from "@langchain/langgraph";
import { callTool, fault, type Script, say, scriptedModel } from "deepwright/testing";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  type AgentEvent,
  type BuildAgentOptions,
  buildAgent,
  buildLlm,
  getAgentState,
  resumeAgentInput,
  streamEvents,
} from "./agent-core.ts";

let home: string;
let workspaceDir: string;
let globalSkillsDir: string;
const toClose: { close(): unknown }[] = [];

beforeEach(async () => {
  vi.stubEnv("TAVILY_API_KEY", undefined);
  home = await mkdtemp(join(tmpdir(), "agent-core-"));
  workspaceDir = join(home, "garden");
  globalSkillsDir = join(home, "global-skills");
  await mkdir(workspaceDir);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const one of toClose.splice(0).reverse()) await one.close();
  await rm(home, { recursive: true, force: true });
});

const HELLO = { messages: [{ role: "user", content: "Go." }] };
const YES = [{ type: "approve" as const }];

async function build(script: Script, options: Partial<BuildAgentOptions> = {}) {
  const model = scriptedModel(script);
  const agent = await buildAgent({
    ...{ workspaceDir, globalSkillsDir, threadId: "t", sandbox: "none", checkpointer: new MemorySaver() },
    ...{ model, ...options },
  });
  toClose.push(agent);
  return { agent, model };
}

async function all(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const found: AgentEvent[] = [];
  for await (const event of events) found.push(event);
  return found;
}

async function lastTool(agent: Parameters<typeof getAgentState>[0]): Promise<string> {
  const { messages } = (await getAgentState(agent, "t")).values as {
    messages: { type: string; text: string }[];
  };
  return messages.findLast(({ type }) => type === "tool")?.text ?? "";
}

const write = callTool("write_file", { file_path: "/rose.txt", content: "red" });

it("waits before a file is written, also over a restart, and goes on with the answer", async () => {
  const path = join(home, "threads.db");
  const first = await SqliteSaver.open(path);
  const before = await build([write], { checkpointer: first });
  const asked = await all(streamEvents(before.agent, HELLO));
  expect(asked.at(-1)).toEqual({ event: "end", data: { status: "interrupted" } });
  await before.agent.close();
  await first.close();

  const second = await SqliteSaver.open(path);
  toClose.push(second);
  const { agent } = await build([say("Written.")], { checkpointer: second });
  const waiting = await getAgentState(agent, "t");
  expect(waiting.interrupts[0]?.value).toMatchObject({ actionRequests: [{ name: "write_file" }] });
  await expect(readFile(join(workspaceDir, "rose.txt"))).rejects.toThrow("ENOENT");
  const end = await all(streamEvents(agent, resumeAgentInput(YES)));
  expect(end.at(-1)).toMatchObject({ event: "end", data: { status: "success", outcome: { kind: "done" } } });
  expect(Object.keys((await getAgentState(agent, "t")).values).filter((key) => /^_/.test(key))).toEqual([]);
  expect(await readFile(join(workspaceDir, "rose.txt"), "utf8")).toBe("red");
  expect(await getAgentState(agent, "t")).toMatchObject({ interrupts: [], next: [] });
});

it("asks about edits, commands, deletions and notes too, and about nothing when approvals are off", async () => {
  await writeFile(join(workspaceDir, "rose.txt"), "red");
  const changes = [
    callTool("edit_file", { file_path: "/rose.txt", old_string: "red", new_string: "white" }),
    callTool("execute", { command: "cat rose.txt" }),
    callTool("memory", { action: "add", note: "Roses are white." }),
    callTool("delete", { file_path: "/rose.txt" }),
  ];
  const { agent } = await build([...changes, say("Done.")]);
  const asked: unknown[] = [];
  for (const input of [HELLO, ...changes.map(() => resumeAgentInput(YES))]) {
    const end = (await all(streamEvents(agent, input))).at(-1)?.data;
    const { interrupts } = await getAgentState(agent, "t");
    const value = interrupts[0]?.value as { actionRequests: { name: string }[] } | undefined;
    asked.push(value?.actionRequests[0]?.name ?? end);
    if (asked.length <= 4) expect(await readdir(workspaceDir)).toContain("rose.txt");
    if (asked.length === 3) expect(await lastTool(agent)).toContain("white");
  }
  expect(asked.slice(0, -1)).toEqual(["edit_file", "execute", "memory", "delete"]);
  expect(asked.at(-1)).toMatchObject({ status: "success" });
  expect(await readdir(workspaceDir)).toEqual(["AGENTS.md"]);
  const free = await build([write, callTool("delete", { file_path: "/rose.txt" }), say("Done.")], {
    ...{ withHitl: false, checkpointer: null },
  });
  expect((await all(streamEvents(free.agent, HELLO))).at(-1)?.data).toMatchObject({ status: "success" });
  expect(await readdir(workspaceDir)).toEqual(["AGENTS.md"]);
});

const delegate = callTool("task", { description: "Plant it.", subagent_type: "general-purpose" });

it("children ask as the agent does; with childHitl: false they do not", async () => {
  const asking = await build([delegate, write, say("Planted."), say("Done.")]);
  await all(streamEvents(asking.agent, HELLO));
  const { interrupts } = await getAgentState(asking.agent, "t");
  expect(interrupts[0]?.value).toMatchObject({ agentPath: ["general-purpose"] });
  const answer = resumeAgentInput({ [interrupts[0]?.id as string]: YES });
  expect((await all(streamEvents(asking.agent, answer))).at(-1)?.data).toMatchObject({ status: "success" });

  const other = callTool("write_file", { file_path: "/lily.txt", content: "white" });
  const script = [delegate, other, say("Planted."), write];
  const quiet = await build(script, { childHitl: false });
  expect((await all(streamEvents(quiet.agent, HELLO))).at(-1)?.data).toEqual({ status: "interrupted" });
  expect(await readFile(join(workspaceDir, "lily.txt"), "utf8")).toBe("white");
  expect((await getAgentState(quiet.agent, "t")).interrupts[0]?.value).not.toHaveProperty("agentPath");
});

it("streams what children do under the names of their graphs, as objects and as server-sent events", async () => {
  const script = [delegate, say("A child's words."), say("Done.")];
  const { agent } = await build(script);
  const events = await all(streamEvents(agent, HELLO));
  const names = events.map(({ event }) => parseEventName(event));
  expect(new Set(names.map(({ kind }) => kind))).toEqual(new Set(["updates", "messages", "end"]));
  const ofChild = events.filter((_, i) => (names[i]?.namespace.length ?? 0) > 0);
  const texts = (some: readonly AgentEvent[]): string =>
    some
      .filter(({ event }) => event.startsWith("messages"))
      .map(({ data }) => (data as [{ content: unknown }])[0].content)
      .join("");
  expect(texts(ofChild)).toContain("A child's words.");
  const again = await build(script, { threadId: "u" });
  const sent: string[] = [];
  for await (const { event, data } of decodeEvents(streamEvents(again.agent, HELLO).sse())) {
    JSON.parse(data);
    sent.push(parseEventName(event).kind);
  }
  expect(sent.at(-1)).toBe("end");
  expect(sent).toContain("messages");
});

it("a failure is an event, an abort is thrown, and who stops reading stops the run", async () => {
  const broken = await build([Object.assign(new Error(`no ${home}`), { status: 400 })]);
  const events = await all(streamEvents(broken.agent, HELLO));
  expect(events.slice(-2).map(({ event }) => event)).toEqual(["error", "end"]);
  expect(JSON.stringify(events.at(-2)?.data)).not.toContain(tmpdir());
  const stuck = await build([fault.never()]);
  const stop = new AbortController();
  const reading = all(streamEvents(stuck.agent, HELLO, { signal: stop.signal }));
  stop.abort(new Error("enough"));
  await expect(reading).rejects.toThrow("enough");
  let ofModel: AbortSignal | undefined;
  const left = await build(({ signal }) => {
    ofModel = signal;
    return fault.never();
  });
  const reader = streamEvents(left.agent, HELLO).sse().getReader();
  void reader.read().catch(() => undefined);
  await expect.poll(() => ofModel?.aborted).toBe(false);
  await reader.cancel();
  await expect.poll(() => ofModel?.aborted).toBe(true);
});

it("ends after 25 model calls", async () => {
  let turn = 0;
  const { agent, model } = await build(() => callTool("ls", { path: `/${++turn}` }));
  const end = (await all(streamEvents(agent, HELLO))).at(-1)?.data;
  expect(end).toMatchObject({ status: "success", outcome: { kind: "budget", allowed: 25 } });
  expect(model.callCount).toBe(25);
  // Three calls of the agent, and three of each task of its subagent.
  const short = await build(
    ({ messages }) =>
      messages.find((message) => message.getType() === "human")?.text === "Go."
        ? callTool("task", { description: `Look at ${++turn}.`, subagent_type: "general-purpose" })
        : callTool("ls", { path: `/${++turn}` }),
    { maxSteps: 3, threadId: "u" },
  );
  await all(streamEvents(short.agent, HELLO));
  expect(short.model.callCount).toBe(3 + 3 * 3);
});

it.each(["os", "none"] as const)("commands inherit no environment and are cut (%s)", async (sandbox) => {
  process.env.AGENT_CORE_TEST = "inherited";
  try {
    const script = [
      callTool("execute", { command: "echo [$AGENT_CORE_TEST] [$GIVEN]; cat rose.txt" }),
      callTool("execute", { command: "seq 1 100000" }),
      say("Done."),
    ];
    await writeFile(join(workspaceDir, "rose.txt"), "red");
    const options = { withHitl: false, sandbox, env: { GIVEN: "given" }, commandTimeout: 600 };
    const { agent, model } = await build(script, options);
    expect((await all(streamEvents(agent, HELLO))).at(-1)?.data).toMatchObject({ status: "success" });
    const answers = model.calls.slice(1).map(({ messages }) => String(messages.at(-1)?.text));
    expect(answers[0]).toContain("[] [given]\nred");
    expect(answers[1]?.slice(0, 200)).toMatch(/\b50\d{3} characters.*large_tool_results/);
    expect(await readdir(workspaceDir)).toEqual(["rose.txt"]);
    const slow = [callTool("execute", { command: "sleep 600" }), say("Done.")];
    const hasty = await build(slow, { ...options, commandTimeout: 1, threadId: "u" });
    await all(streamEvents(hasty.agent, HELLO));
    expect(String(hasty.model.calls[1]?.messages.at(-1)?.text)).toContain("124");
  } finally {
    delete process.env.AGENT_CORE_TEST;
  }
});

/** A turn of the event loop, which no timer is needed for. */
const turn = () => new Promise((go) => setImmediate(go));

it.each(["os", "none"] as const)("a command may take 60 s (%s)", async (sandbox) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const script = [callTool("execute", { command: "echo begun > begun; sleep 600" }), say("Done.")];
    const { agent, model } = await build(script, { withHitl: false, sandbox });
    let isDone = false;
    const run = all(streamEvents(agent, HELLO)).finally(() => {
      isDone = true;
    });
    for (let names: string[] = []; !names.includes("begun"); names = await readdir(workspaceDir))
      await turn();
    vi.advanceTimersByTime(59_500);
    for (let turns = 0; turns < 500; turns += 1) await turn();
    expect(isDone).toBe(false);
    vi.advanceTimersByTime(1_000);
    while (!isDone) await turn();
    await run;
    expect(String(model.calls[1]?.messages.at(-1)?.text)).toMatch(/time was up: exit code 124/);
  } finally {
    vi.useRealTimers();
  }
});

it("fails with the reason where the sandbox cannot be had, and for a workspace that is not there", async () => {
  const platform = Object.getOwnPropertyDescriptor(process, "platform") as PropertyDescriptor;
  Object.defineProperty(process, "platform", { ...platform, value: "sunos" });
  try {
    const refused = expect(build([], { sandbox: null })).rejects;
    await refused.toMatchObject({ code: "SANDBOX_UNAVAILABLE", message: expect.stringContaining("sunos") });
  } finally {
    Object.defineProperty(process, "platform", platform);
  }
  await expect(build([], { workspaceDir: join(home, "nowhere") })).rejects.toThrow("workspaceDir");
  await expect(build([], { mode: "chess" as never })).rejects.toThrow("There is no mode 'chess'");
  await expect(build([], { sandbx: "os" } as never)).rejects.toMatchObject({ code: "UNKNOWN_OPTION" });
});

async function skill(directory: string, name: string, description: string): Promise<void> {
  await mkdir(join(directory, name), { recursive: true });
  const text = `---\nname: ${name}\ndescription: ${description}\n---\nHow.\n`;
  await writeFile(join(directory, name, "SKILL.md"), text);
}

it.each(["os", "none"] as const)(
  "skills of the workspace count more than global ones, which cannot be changed (%s)",
  async (sandbox) => {
    await skill(globalSkillsDir, "prune", "Global pruning.");
    await skill(globalSkillsDir, "water", "Global watering.");
    await skill(join(workspaceDir, "skills"), "prune", "Pruning in this garden.");
    const change = { file_path: "/.global/skills/water/SKILL.md", content: "mine" };
    const { agent, model } = await build(
      [callTool("read_file", { file_path: change.file_path }), callTool("write_file", change), say("Done.")],
      { withHitl: false, sandbox },
    );
    await all(streamEvents(agent, HELLO));
    const prompt = String(model.calls[0]?.messages[0]?.text);
    expect(prompt).toContain("Pruning in this garden.");
    expect(prompt).toContain("Global watering.");
    expect(prompt).not.toContain("Global pruning.");
    expect(String(model.calls[1]?.messages.at(-1)?.text)).toContain("Global watering.");
    expect(String(model.calls[2]?.messages.at(-1)?.text)).toMatch(/Global skills cannot be changed/);
    expect(await readFile(join(globalSkillsDir, "water", "SKILL.md"), "utf8")).toContain("Global watering.");
  },
);

it("has words for the mode and the workspace, its memory, and a search where one is given", async () => {
  await writeFile(join(workspaceDir, "AGENTS.md"), "Roses come first.");
  const plain = await build([say("Done.")]);
  await all(streamEvents(plain.agent, HELLO));
  const prompt = String(plain.model.calls[0]?.messages[0]?.text);
  expect(prompt).toContain("side by side");
  expect(prompt).toContain('"garden"');
  expect(prompt).not.toContain(home);
  expect(prompt).toContain("Roses come first.");
  const toolsOf = ({ agent }: typeof plain) => agent.describe().tools.map(({ name }) => name);
  expect(toolsOf(plain)).not.toContain("web_search");
  expect(toolsOf(plain)).toContain("memory");
  expect(toolsOf(await build([], { search: { provider: "tavily", apiKey: "k" } }))).toContain("web_search");
  vi.stubEnv("TAVILY_API_KEY", "tvly-1");
  expect(toolsOf(await build([]))).toContain("web_search");
  expect(toolsOf(await build([], { search: false, memory: false }))).not.toContain("web_search");
  expect(toolsOf(await build([], { memory: false }))).not.toContain("memory");
  const search = (query: string) => [{ title: `About ${query}` }];
  const script = [callTool("web_search", { query: "roses" }), say("Done.")];
  const other = await build(script, { search, mode: "acp", memory: false, threadId: "u" });
  await all(streamEvents(other.agent, HELLO));
  expect(String(other.model.calls[0]?.messages[0]?.text)).toContain("You lead a group of subagents");
  expect(String(other.model.calls[0]?.messages[0]?.text)).not.toContain("Roses come first.");
  expect(String(other.model.calls[1]?.messages.at(-1)?.text)).toContain("About roses");
});

it("makes a model of settings, and says what is wrong with them without the key", async () => {
  const model = await buildLlm({
    ...{ provider: "openai", model: "gpt-x", apiKey: "sk-key", baseUrl: "http://127.0.0.1:9/v1" },
    temperature: 0.5,
  });
  expect(model).toMatchObject({ model: "gpt-x", temperature: 0.5 });
  expect((model as unknown as { clientConfig: { baseURL: string } }).clientConfig.baseURL).toBe(
    "http://127.0.0.1:9/v1",
  );
  await expect(buildLlm({ provider: "nobody", model: "x", apiKey: "sk-key" })).rejects.toMatchObject({
    code: "MODEL_NOT_AVAILABLE",
    message: expect.not.stringContaining("sk-key"),
  });
  await expect(buildLlm({ provider: "openai", model: "" })).rejects.toThrow("'model'");
  await expect(buildLlm({ provider: "openai", model: "x", baseUrl: "file:///x" })).rejects.toThrow("baseUrl");
});
