/** R-37, on real programs. */
import { join } from "node:path";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { expect, onTestFinished, test } from "vitest";
import { eventually, until } from "../../../../scripts/test-time.ts";
import { startServer } from "../../../server/src/server-for-tests.ts";
import { linesOf, opened, scratch, toolsProgram } from "../mcp-for-tests.ts";

/** `timeout` is that of calls of the one that fails. */
async function twoServers(timeout = 600_000) {
  const log = join(await scratch(), "log");
  const servers = { bad: { ...toolsProgram(log), timeout }, good: toolsProgram() };
  const { mcp, codes, notices } = await opened({ servers, toolTokens: 50_000 });
  const run = async (...turns: string[]) => {
    const words = { words: "here" };
    const model = scriptedModel(async ({ turn }) => {
      const name = turns[turn];
      if (turn > turns.length) return say("done");
      if (name === undefined) {
        // On a busy machine it starts more slowly than its calls may take.
        if (turns.includes("freeze")) await until(() => codes().includes("RECONNECTED"));
        return callTool("mcp__bad__echo", words);
      }
      return {
        toolCalls: [
          { name: `mcp__bad__${name}`, args: {} },
          { name: "mcp__good__echo", args: words },
        ],
      };
    });
    const { messages } = await createDeepAgent({ model, middleware: [mcp.middleware] }).invoke({
      messages: "go",
    });
    return messages
      .filter((message) => message.getType() === "tool")
      .map((message) => [(message as { status?: string }).status, String(message.content)] as const);
  };
  return { run, codes, notices, log, mcp };
}

test.each([
  ["dies", "die", undefined, /lost during the call/],
  ["stands still", "freeze", 5_000, /did not answer within 5 s/],
  ["floods its output", "flood", undefined, /lost during the call/],
])(
  "R-37 a server that %s during a call: an error in time, the others go on, and it is back",
  async (_, tool, timeout, words) => {
    const { run, codes, log } = await twoServers(timeout);
    const results = await run(tool);
    expect(results).toEqual([
      ["error", expect.stringMatching(words)],
      ["success", "echo: here"],
      ["success", "echo: here"],
    ]);
    expect(codes()).toEqual(["LOST", "RECONNECTED"]);
    expect(await linesOf(log)).toHaveLength(2);
  },
);

test("R-37 a tool that hangs alone is cancelled, and its server stays", async () => {
  const { run, codes, log } = await twoServers(5_000);
  expect((await run("hang"))[0]).toEqual(["error", expect.stringContaining("did not answer within 5 s")]);
  await expect.poll(() => linesOf(log)).toEqual([expect.stringMatching(/^start/), "called", "cancelled"]);
  expect(codes()).toEqual([]);
});

test("R-37 a flood on stderr harms nobody", async () => {
  const { run, codes } = await twoServers();
  expect((await run("complain"))[0]).toEqual(["success", "complained"]);
  expect(codes()).toEqual([]);
});

test("R-37 a server that dies at every call is there for the next one all the same", async () => {
  const { run } = await twoServers();
  const results = await run("die", "die");
  expect(results.map(([status]) => status)).toEqual(["error", "success", "error", "success", "success"]);
});

test("R-37 a run over HTTP goes on when a server dies during its call", async () => {
  const { mcp } = await opened({ servers: { bad: toolsProgram() }, toolTokens: 50_000 });
  const model = scriptedModel([
    callTool("mcp__bad__die", {}),
    callTool("mcp__bad__echo", { words: "x" }),
    "done",
  ]);
  const server = await startServer({
    agents: { agent: createDeepAgent({ model, middleware: [mcp.middleware] }) },
  });
  onTestFinished(() => server.close());
  const { status, body } = await server.call("POST", "/runs/wait", {
    assistant_id: "agent",
    input: { messages: [{ role: "user", content: "go" }] },
  });
  expect(status).toBe(200);
  const results = body.messages.filter(({ type }: { type: string }) => type === "tool");
  expect(results).toMatchObject([{ status: "error" }, { status: "success", content: "echo: x" }]);
});

test("an abort reaches the call and its server", async () => {
  const log = join(await scratch(), "log");
  const { mcp } = await opened({ servers: { bad: toolsProgram(log) }, toolTokens: 50_000 });
  const stop = new AbortController();
  const model = scriptedModel([callTool("mcp__bad__hang", {})]);
  const running = createDeepAgent({ model, middleware: [mcp.middleware] }).invoke(
    { messages: "go" },
    { signal: stop.signal },
  );
  running.catch(() => {});
  await eventually(async () => expect(await linesOf(log)).toContain("called"));
  stop.abort();
  await expect(running).rejects.toThrow();
  await expect.poll(() => linesOf(log)).toContain("cancelled");
});
