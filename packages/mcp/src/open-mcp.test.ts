import { mkdir, readdir, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { createDeepAgent } from "deepwright";
import { callTool, scriptedModel } from "deepwright/testing";
import { expect, test } from "vitest";
import { isAlive, linesOf, opened, scratch, toolsProgram } from "./mcp-for-tests.ts";
import { openMcp } from "./open-mcp.ts";

const resultsOf = ({ messages }: { messages: readonly { getType(): string }[] }) =>
  messages.filter((message) => message.getType() === "tool") as unknown as {
    readonly status?: string;
    readonly content: unknown;
  }[];

const variable = (name: string): string => `$\{${name}}`;

test("tools of a program come by sorted names, and whatever they answer is shown", async () => {
  const servers = { tools: { ...toolsProgram(), deniedTools: ["freeze"] } };
  const { mcp, notices } = await opened({ servers, toolTokens: 50_000 });
  const names = mcp.tools.map(({ name }) => name);
  expect(names).toEqual(names.toSorted());
  expect(names).toContain("mcp__tools__echo");
  expect(names).not.toContain("mcp__tools__freeze");
  const model = scriptedModel([
    {
      toolCalls: [
        { name: "mcp__tools__echo", args: { words: "hi" } },
        { name: "mcp__tools__fail", args: {} },
        { name: "mcp__tools__facts", args: {} },
        { name: "mcp__tools__echo", args: { wrong: 1 } },
        { name: "mcp__tools__long", args: {} },
      ],
    },
    callTool("mcp__tools__picture", {}),
    "done",
  ]);
  const agent = createDeepAgent({ model, middleware: [mcp.middleware] });
  const results = resultsOf(await agent.invoke({ messages: "go" }));
  expect(results.map(({ status }) => status)).toEqual([
    "success",
    "error",
    "success",
    "error",
    "success",
    "success",
  ]);
  expect(results.map(({ content }) => content)).toEqual([
    "echo: hi",
    expect.stringContaining("It went wrong."),
    '{"answer":42}',
    expect.stringContaining("words"),
    expect.stringMatching(/^\[This result is too long/),
    [
      { type: "text", text: "Look:" },
      expect.objectContaining({ type: "image", mimeType: "image/png" }),
      { type: "text", text: "[resource note://a]\na note" },
      { type: "text", text: "[resource bin://b: application/zip, 3 bytes]" },
      { type: "text", text: "[link to http://169.254.169.254/]" },
    ],
  ]);
  expect(notices).toEqual([]);
});

test("a program gets no variable that its definition does not name", async () => {
  process.env.FAKE_API_KEY = "canary";
  const servers = {
    tools: { ...toolsProgram(), env: { MINE: `${variable("GIVEN:-no")} ${variable("EMPTY:-default")}` } },
  };
  const { mcp } = await opened({ servers, environment: { ...process.env, GIVEN: "yes", EMPTY: "" } });
  const environment = JSON.parse(await invoked(mcp, "mcp__tools__env"));
  delete process.env.FAKE_API_KEY;
  expect(environment.MINE).toBe("yes default");
  expect(JSON.stringify(environment)).not.toContain("canary");
});

const invoked = async (mcp: Awaited<ReturnType<typeof openMcp>>, name: string, args = {}): Promise<string> =>
  String(await mcp.tools.find((tool) => tool.name === name)?.invoke(args));

test("closing ends the program and all it started, and aborting the signal closes", async () => {
  const log = join(await scratch(), "log");
  const stop = new AbortController();
  const { mcp } = await opened({ servers: { tools: toolsProgram(log) }, signal: stop.signal });
  const child = Number(await invoked(mcp, "mcp__tools__child"));
  const program = Number((await linesOf(log))[0]?.split(" ")[1]);
  expect(await Promise.all([child, program].map(isAlive))).toEqual([true, true]);
  stop.abort();
  await mcp.close();
  expect(mcp.servers[0]?.state).toBe("closed");
  await expect.poll(() => Promise.all([child, program].map(isAlive))).toEqual([false, false]);
  await expect(invoked(mcp, "mcp__tools__echo", { words: "a" })).rejects.toThrow();
});

test("a server that cannot be started is told of with its last words, and the others work", async () => {
  const { mcp, notices } = await opened({
    servers: {
      bad: {
        command: process.execPath,
        args: ["-e", "console.error('no key \\u001b[31m'); process.exit(1)"],
      },
      gone: { command: "no-such-program-anywhere" },
      unset: { command: "cat", env: { KEY: variable("NOT_SET_ANYWHERE") } },
      tools: toolsProgram(),
    },
  });
  const states = () => mcp.servers.map(({ name, state }) => [name, state]);
  await expect.poll(states).toEqual([
    ["bad", "unavailable"],
    ["gone", "unavailable"],
    ["tools", "ready"],
    ["unset", "unavailable"],
  ]);
  const words = notices.map(({ message }) => message).join("\n");
  expect(words).toContain("It said: no key \\u001b[31m");
  expect(words).toContain("There is no program 'no-such-program-anywhere'");
  expect(words).toContain("The definition names NOT_SET_ANYWHERE, which is not set.");
  const model = scriptedModel(["ok"]);
  await createDeepAgent({ model, middleware: [mcp.middleware] }).invoke({ messages: "go" });
  expect(model.calls[0]?.messages[0]?.text).toContain("their tools are missing: bad, gone, unset.");
});

test("a program is never found in the project, whatever PATH says", async () => {
  const project = await scratch();
  await mkdir(join(project, "bin"));
  await symlink("/bin/echo", join(project, "bin", "my-server"));
  const environment = { PATH: `:.:bin:${join(project, "bin")}:${process.env.PATH}` };
  const { notices } = await opened({ project, servers: { a: { command: "my-server" } }, environment });
  expect(notices[0]?.message).toContain("There is no program 'my-server'");
});

test("a server that was seen before is started by the first call and not before", async () => {
  const [home, directory] = [await scratch(), await scratch()];
  const log = join(directory, "log");
  const servers = { tools: toolsProgram(log) };
  const first = await opened({ servers, home, project: directory });
  await first.mcp.close();
  expect(await linesOf(log)).toHaveLength(1);
  const second = await opened({ servers, home, project: directory });
  expect(second.mcp.servers).toMatchObject([
    { state: "idle", tools: expect.arrayContaining(["mcp__tools__echo"]) },
  ]);
  const model = scriptedModel(["hello"]);
  await createDeepAgent({ model, middleware: [second.mcp.middleware] }).invoke({ messages: "hi" });
  expect(await linesOf(log)).toHaveLength(1);
  expect(await invoked(second.mcp, "mcp__tools__echo", { words: "now" })).toBe("echo: now");
  expect(await linesOf(log)).toHaveLength(2);
  expect(second.codes()).toEqual([]);
  await second.mcp.close();

  const [file = ""] = await readdir(join(home, "mcp-tools"));
  const path = join(home, "mcp-tools", file);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test.each([
  [{ servers: { a: { command: "x", comand: "y" } } }, "unknown key 'comand'"],
  [{ servers: { a: { command: "x", url: "http://x" } } }, "has both 'command' and 'url'"],
  [{ servers: { a: {} } }, "needs 'command' (a program to start) or 'url'"],
  [{ servers: { a: { command: "x", timeout: 60 } } }, "'timeout' is in milliseconds, and at least 1000"],
  [{ servers: { a: { command: "x", args: "y" } } }, "'args' expected array"],
  [{ servers: { "a\u001b[31m": { command: "x" } } }, "cannot be the name of a server"],
  [{ server: {} }, "has no option 'server'"],
])("%j is refused with words that say what to mend", async (options, words) => {
  await expect(openMcp(options as never)).rejects.toThrow(words);
});
