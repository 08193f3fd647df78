import { tool } from "@langchain/core/tools";
import { Command, MemorySaver } from "@langchain/langgraph";
import {
  CompositeBackend,
  createDeepAgent,
  createFilesystemMiddleware,
  PolicyBackend,
  StateBackend,
} from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSandbox } from "../index.ts";
import { testProvider } from "./sandboxes-for-tests.ts";

const SECRET = "hunter2-hunter2";
const FILE_TOOLS = ["ls", "read_file", "write_file", "edit_file", "delete", "glob", "grep", "execute"];
const ALL = Object.fromEntries([...FILE_TOOLS, "write_todos", "task"].map((name) => [name, true]));
const secretSource = () =>
  createSandbox({ provider: testProvider({ network: "none" }), secrets: { DATABASE_PASSWORD: SECRET } });
const agentOn = (options: object) => createDeepAgent({ model: scriptedModel(["ok"]), ...options } as never);

describe("secrets in a sandbox", () => {
  test.each(["open", "allow-list"] as const)("are refused where the network is %s", (network) => {
    const options = { provider: testProvider({ network }), secrets: { DATABASE_PASSWORD: SECRET } };
    expect(() => createSandbox(options)).toThrow(/need one without network.*outside/);
  });

  test.each(["runloop", "langsmith", "agentcore"] as const)("are refused in %s", (provider) => {
    expect(() => createSandbox({ provider, secrets: { A: SECRET } })).toThrow(/without network/);
  });

  test("are no variables of env as well", () => {
    const provider = testProvider({ network: "none" });
    expect(() => createSandbox({ provider, env: { A: "1" }, secrets: { A: "2" } })).toThrow(
      /in 'env' and in 'secrets'/,
    );
  });

  test("need an agent that asks about every tool", () => {
    const backend = secretSource();
    expect(() => agentOn({ backend })).toThrow(
      /Every call of this agent needs approval, because its sandbox has secrets/,
    );
    expect(() => agentOn({ backend, interruptOn: ALL })).not.toThrow();
    for (const name of Object.keys(ALL))
      expect(() => agentOn({ backend, interruptOn: { ...ALL, [name]: false } }), name).toThrow(
        `'${name}' can be called`,
      );
    expect(() => agentOn({ backend, interruptOn: { ...ALL, execute: { when: () => false } } })).toThrow(
      /'execute'/,
    );
  });

  test("need it of tools of the user and of subagents too, before any of them is called", () => {
    const backend = secretSource();
    const own = tool(async () => "sent", { name: "send", description: "Sends.", schema: z.object({}) });
    expect(() => agentOn({ backend, interruptOn: ALL, tools: [own] })).toThrow(/'send'/);
    expect(() => agentOn({ backend, interruptOn: ALL, tools: [{ type: "web_search" }] })).toThrow(
      /run by the provider/,
    );
    const worker = { name: "worker", description: "works", systemPrompt: "Work." };
    expect(() => agentOn({ backend, interruptOn: ALL, subagents: [worker] })).not.toThrow();
    for (const odd of [
      { tools: [own] },
      { interruptOn: { execute: false } },
      { mode: "fork", interruptOn: { ls: false } },
    ])
      expect(() => agentOn({ backend, interruptOn: ALL, subagents: [{ ...worker, ...odd }] })).toThrow(
        /can be called without/,
      );
  });

  test("need it inside a composite, a policy, a middleware, and of the sandbox of a lease", async () => {
    const source = secretSource();
    await using lease = await source.lease();
    for (const backend of [
      new CompositeBackend(source, { "/notes/": new StateBackend() }),
      new CompositeBackend(new StateBackend(), { "/project/": source }),
      new PolicyBackend(source, { readOnly: true } as never),
      lease.sandbox,
    ])
      expect(() => agentOn({ backend })).toThrow(/needs approval/);
    expect(() => agentOn({ middleware: [createFilesystemMiddleware({ backend: source })] })).toThrow(
      /needs approval/,
    );
  });

  test("are not reached through a function around the source", async () => {
    const source = secretSource();
    const agent = agentOn({ backend: (runtime: never) => source(runtime) });
    await expect(agent.invoke({ messages: "hi" }, { configurable: { thread_id: "t" } })).rejects.toThrow(
      /inside a function/,
    );
  });

  test("are there for commands that were approved, and struck out of what comes back", async () => {
    await using source = secretSource();
    const agent = createDeepAgent({
      backend: source,
      interruptOn: ALL,
      checkpointer: new MemorySaver(),
      model: scriptedModel([
        callTool("execute", {
          command: "echo $DATABASE_PASSWORD | tee leak; printf %s $DATABASE_PASSWORD | wc -c",
        }),
        callTool("read_file", { file_path: "/leak" }),
        callTool("grep", { pattern: "hunter2" }),
        "done",
      ]),
    });
    const config = { configurable: { thread_id: "t" } };
    await agent.invoke({ messages: "go" }, config);
    const approve = () =>
      agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }) as never, config);
    await approve();
    await approve();
    const { messages } = (await approve()) as { messages: { text: string; type: string }[] };
    const results = messages.filter(({ type }) => type === "tool").map(({ text }) => text);
    expect(results).toHaveLength(3);
    expect(results[0]).toBe("[DATABASE_PASSWORD]\n15\n[Succeeded: exit code 0]");
    expect(results.join("\n")).not.toContain(SECRET);
  });

  test("are struck out of the words about a set-up that failed", async () => {
    const source = createSandbox({
      provider: testProvider({ network: "none" }),
      secrets: { DATABASE_PASSWORD: SECRET },
      setupScript: "echo $DATABASE_PASSWORD; exit 1",
    });
    const error = (await source.lease().catch((thrown: unknown) => thrown)) as Error;
    expect(error.message).toContain("[DATABASE_PASSWORD]");
    expect(error.message).not.toContain(SECRET);
  });
});
