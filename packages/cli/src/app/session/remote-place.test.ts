import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApprovalModes, ModelChoices, serve } from "@deepwright/server";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { until } from "../../../../../scripts/test-time.ts";
import { allCommands } from "../commands/all-commands.ts";
import { submit } from "../commands/submit.ts";
import type { Panel } from "../panels/panel.ts";
import { themeOf } from "../view/theme.ts";
import { openRemote } from "./remote-place.ts";
import { Session } from "./session.ts";

const TOKEN = "a-token-of-a-test";

async function sessionWith(agent: object, others: object = {}) {
  const home = await mkdtemp(join(tmpdir(), "deepwright-remote-"));
  const server = await serve({
    agents: { agent: agent as never, ...others },
    ...{ port: 0, token: TOKEN, database: ":memory:", drainMs: 1_000 },
  });
  onTestFinished(async () => {
    await server.close();
    await rm(home, { recursive: true, force: true });
  });
  const place = await openRemote(server.url, { DEEPWRIGHT_SERVER_TOKEN: TOKEN });
  const failures: string[] = [];
  const events = { onChange: () => {}, onEnd: () => {}, onFailure: (words: string) => failures.push(words) };
  const session = new Session(place, home, "ask", events);
  const [said, shown]: [string[], Panel[]] = [[], []];
  const host = { session, place, directory: home, theme: themeOf("dark", false), commands: allCommands };
  const types = async (text: string): Promise<string> => {
    said.length = 0;
    const say = (...lines: string[]): void => void said.push(...lines);
    const show = (panel: Panel): void => void shown.push(panel);
    await submit(text, { ...host, say, show, closePanel() {}, replay() {} } as never);
    await session.idle();
    return said.join("\n");
  };
  return { place, failures, session, types, shown };
}

const last = ({ screen }: Session) => screen.main.messages.at(-1)?.text;

test("an agent without modes is asked for nothing that it would refuse", async () => {
  const agent = createDeepAgent({ model: scriptedModel([say("Hello.")]) });
  const { place, session, failures, types } = await sessionWith(agent);
  expect(place.hasModes).toBe(false);
  await types("hello");
  expect(failures).toEqual([]);
  expect(last(session)).toBe("Hello.");
  expect(await types("/mode plan")).toContain("it has no modes");
});

test("a tool is allowed for the thread, and the next run works with another model of the server", async () => {
  const write = (id: string) => callTool("write_file", { file_path: `/${id}.md`, content: "x" }, id);
  const model = scriptedModel([write("a"), say("one"), write("b"), say("two")]);
  const modes = new ApprovalModes({ isContained: false });
  const others = { other: async () => scriptedModel([say("I am the other.")]) };
  const agent = createDeepAgent({
    model,
    middleware: [modes.guard, new ModelChoices({ model, others }).guard] as never,
    interruptOn: modes.gate({ write_file: {} }) as never,
  });
  const { place, session, failures, types } = await sessionWith(agent);
  expect(place.rules).toEqual(["thread"]);
  await types("write");
  expect(session.isWaiting).toBe(true);
  session.allow({ tool: "write_file", threadId: session.threadId });
  const id = session.screen.interrupts[0]?.id ?? "";
  await session.answer({ [id]: { decisions: [{ type: "approve" }] } });
  await session.idle();
  await types("again");
  expect([session.isWaiting, last(session), failures]).toEqual([false, "two", []]);
  expect(await types("/permissions")).toContain("1 write_file · in a thread");
  expect(await types("/permissions forget 1")).toContain("No permissions beyond the mode.");
  expect(await types("/model secret")).toContain("does not offer secret");
  expect(await types("/model other")).toContain("From the next message on: other");
  await types("hello");
  expect([last(session), failures]).toEqual(["I am the other.", []]);
});

test("a background task is listed, and joined while it works", async () => {
  let go = (): void => {};
  const hold = new Promise<void>((resolve) => {
    go = resolve;
  });
  onTestFinished(() => go());
  const wait = tool(async () => hold.then(() => "It was worth it."), { name: "wait", schema: z.object({}) });
  const helper = createDeepAgent({
    model: scriptedModel([callTool("wait", {}), say("I waited.")]),
    tools: [wait],
  });
  const order = { subagent_type: "helper", description: "Wait for the bus." };
  const boss = createDeepAgent({
    model: scriptedModel([callTool("start_async_task", order), say("It waits."), say("It is done.")]),
    subagents: [{ name: "helper", description: "Waits.", graphId: "helper" }],
  });
  const { place, session, types, shown, failures } = await sessionWith(boss, { helper });
  expect(place.notices[1]).toBe("You talk to agent. --agent chooses another one of agent, helper.");
  expect(await types("/tasks")).toBe("This thread has no background tasks.");
  await types("go");
  expect(last(session)).toBe("It waits.");
  await types("/tasks");
  await until(() => shown.length === 1);
  expect(shown[0]?.rows(100, 30).join("\n")).toContain("helper: Wait for the bus.");
  shown[0]?.handle("\r");
  await until(() => session.isRunning);
  expect(session.screen.main.messages[0]?.text).toContain("Wait for the bus.");
  go();
  await session.idle();
  expect([last(session), failures]).toEqual(["I waited.", []]);
});

test("an address where something else answers is named as that", async () => {
  const page = createServer((_, response) => response.writeHead(404).end("no"));
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void page.close());
  const url = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
  await expect(openRemote(url, {})).rejects.toThrow(
    `The server at ${url} is no server of agents: it answered 404.`,
  );
});
