/** The page in Chromium, served by a real server on SQLite whose agent follows a script. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import {
  ApprovalModes,
  ModelChoices,
  type RunningServer,
  type ServeOptions,
  serve,
} from "@deepwright/server";
import { tool } from "@langchain/core/tools";
import { createDeepAgent } from "deepwright";
import { callTool, type ScriptedTurn, say, scriptedModel } from "deepwright/testing";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { z } from "zod";
import { buildPage } from "../../../scripts/build-web.mjs";
import { PATIENCE_MS } from "../../../scripts/test-time.ts";

export const TOKEN = "a-token-for-tests-0123456789";

export const REPORT = `# Findings

The store has **two** indexes, see [the guide](https://example.org/guide).

| index | rows |
|---|---:|
| \`by_time\` | 1,204 |
| \`by_owner\` | 98 |

\`\`\`ts
export function total(rows: readonly Row[]): number {
  return rows.reduce((sum, row) => sum + row.amount, 0);
}
\`\`\`

- [x] read the schema
- [ ] measure again
`;

const both = (...calls: readonly ScriptedTurn[]): ScriptedTurn => ({
  toolCalls: calls.flatMap(({ toolCalls = [] }) => toolCalls),
});

const TODOS = [
  { content: "Read the schema", status: "completed" },
  { content: "Measure the queries", status: "in_progress" },
  { content: "Write the report", status: "pending" },
];

const DONE = TODOS.map((todo) => ({ ...todo, status: "completed" }));

const todosOf = (text: string) => text.split("\n").map((content) => ({ content, status: "pending" }));

/** What the agent does about the last message of the person. */
function turnFor(text: string): ScriptedTurn {
  const [word, ...rest] = text.split(" ");
  const words = rest.join(" ");
  if (word === "say") return say(words);
  if (word === "report") return say(REPORT);
  if (word === "plan") return callTool("write_todos", { todos: words === "is done" ? DONE : TODOS });
  if (word === "todos") return callTool("write_todos", { todos: todosOf(words) });
  if (word === "save") return callTool("write_file", { file_path: `/${rest[0]}`, content: words });
  if (word === "write")
    return callTool("write_file", { file_path: "/notes.md", content: "one\ntwo\nthree\n" });
  if (word === "edit")
    return both(
      callTool("edit_file", { file_path: "/notes.md", old_string: "two", new_string: "second" }),
      callTool("write_file", { file_path: "/other.md", content: words || "other\n" }),
    );
  if (word === "run") return callTool("execute", { command: words });
  if (word === "ask") return callTool("ask", { question: words });
  if (word === "hold") return callTool("hold", { file: words });
  if (word === "write-and-hold")
    return both(
      callTool("write_file", { file_path: "/kept.md", content: "kept\n" }),
      callTool("hold", { file: words }),
    );
  if (word === "research")
    return both(
      callTool("task", { description: "say found in the north", subagent_type: "general-purpose" }),
      callTool("task", { description: "say found in the south", subagent_type: "general-purpose" }),
    );
  if (word === "delegate") return callTool("task", { description: words, subagent_type: "general-purpose" });
  if (word === "fail" && !existsSync(words)) throw new TypeError("The model is broken.");
  if (word === "fail") return say("Works again.");
  if (word === "call") return callTool("echo", { text: words });
  return say(`You said: ${text}`);
}

export function scriptedAgent(parts: Parameters<typeof createDeepAgent>[0] = {}) {
  const ask = tool(() => "asked", {
    name: "ask",
    description: "Asks.",
    schema: z.object({ question: z.string() }),
  });
  const echo = tool(({ text }) => text, {
    name: "echo",
    description: "Returns the text.",
    schema: z.object({ text: z.string() }),
  });
  const hold = tool(holdUntil, {
    name: "hold",
    description: "Waits for a file.",
    schema: z.object({ file: z.string() }),
  });
  const model = scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last?.getType() === "tool") return say(`Done: ${String(last.text).slice(0, 200)}`);
      return turnFor(String(last?.text ?? ""));
    },
    { record: false, chunkLatency: 1 },
  );
  const modes = new ApprovalModes({ isContained: false });
  const other = async () => scriptedModel(() => say("The other model says so."), { record: false });
  const choices = new ModelChoices({ model, others: { "scripted:other": other } });
  return createDeepAgent({
    model,
    tools: [ask, echo, hold],
    middleware: [modes.guard, choices.guard] as never,
    interruptOn: modes.gate({ write_file: {}, edit_file: {}, ask: {} }) as never,
    budget: { maxTokens: 1_000_000, prices: { scripted: { input: 3, output: 15 } } },
    ...parts,
  });
}

async function holdUntil({ file }: { file: string }, { signal }: { signal?: AbortSignal }): Promise<string> {
  while (!existsSync(file)) {
    signal?.throwIfAborted();
    await new Promise((go) => setTimeout(go, 20));
  }
  return "held";
}

export interface TestPage {
  readonly server: RunningServer;
  readonly browser: Browser;
  readonly context: BrowserContext;
  /** Signed in. */
  readonly page: Page;
  readonly directory: string;
  /** Requests that left for another origin. Empty: none. */
  readonly foreign: readonly string[];
  /** Errors that scripts threw or the policy of the page caught. */
  readonly failures: readonly string[];
  /** Another tab of the same browser. */
  newTab(): Promise<Page>;
  /** JSON, with the token. */
  call(method: string, path: string, body?: unknown): Promise<any>;
  close(): Promise<void>;
}

export interface PageOptions extends Partial<ServeOptions> {
  /** Default true. */
  readonly signIn?: boolean;
}

export async function openPage({ signIn = true, ...options }: PageOptions = {}): Promise<TestPage> {
  const directory = await mkdtemp(join(tmpdir(), "page-"));
  const [folder, browser] = await Promise.all([buildPage(), launchChromium()]);
  const server = await serve({
    agents: { agent: scriptedAgent() },
    port: 0,
    database: join(directory, "server.db"),
    token: TOKEN,
    drainMs: 1_000,
    page: folder,
    ...options,
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const foreign: string[] = [];
  const failures: string[] = [];
  const newTab = async (): Promise<Page> => {
    const page = await context.newPage();
    page.on("request", (request) => {
      if (!/^(?:data|blob):/.test(request.url()) && !request.url().startsWith(server.url))
        foreign.push(request.url());
    });
    page.on("pageerror", (error) => failures.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && /Content.Security|Trusted/i.test(message.text()))
        failures.push(message.text());
    });
    return page;
  };
  const page = await newTab();
  if (signIn) await signedIn(page, server);
  return {
    server,
    browser,
    context,
    page,
    directory,
    foreign,
    failures,
    newTab,
    call: (method, path, body) => callServer(server.url, method, path, body),
    close: async () => {
      await browser.close();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function signedIn(page: Page, server: RunningServer): Promise<void> {
  await page.goto(`${server.url}/#code=${(await server.app.newSignInCode?.())?.code}`);
  await page.getByRole("navigation").waitFor();
}

async function callServer(url: string, method: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${TOKEN}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return text === "" ? undefined : JSON.parse(text);
}

/** A way to the server that can be cut, as when a laptop is closed. */
export async function cuttableWay(to: number) {
  const sockets = new Set<Socket>();
  let isOpen = true;
  const way = createServer((socket) => {
    if (!isOpen) return socket.destroy();
    const onward = connect(to, "127.0.0.1");
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on("error", () => one.destroy());
      one.on("close", () => {
        sockets.delete(one);
        socket.destroy();
        onward.destroy();
      });
    }
    socket.pipe(onward).pipe(socket);
  });
  await new Promise<void>((done) => way.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(way.address() as AddressInfo).port}`,
    cut: () => {
      isOpen = false;
      for (const socket of sockets) socket.destroy();
    },
    open: () => {
      isOpen = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      way.close();
    },
  };
}

function launchChromium(): Promise<Browser> {
  const executablePath = (process.env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "chromium"))
    .find((file) => existsSync(file));
  if (executablePath === undefined) throw new Error("There is no chromium on the PATH.");
  return chromium.launch({
    executablePath,
    timeout: PATIENCE_MS,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
}

/** Sends a message in the field of the page. */
export async function tell(page: Page, text: string): Promise<void> {
  const field = page.getByRole("textbox", { name: "Message" });
  await field.fill(text);
  await field.press("Enter");
}
