/** An editor as the SDK makes it, at the other end of the real program. For tests only. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Writable } from "node:stream";
import {
  type ClientCapabilities,
  type ClientContext,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeResponse,
  type NewSessionResponse,
  ndJsonStream,
  type PromptResponse,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { afterThisFile } from "../../../../scripts/test-cleanups.mjs";
import { startBinary } from "../test-support/run-binary.ts";

/** The optionId or its beginning; undefined: the person closes the question. */
export type Permit = (request: RequestPermissionRequest) => Promise<string | undefined> | string | undefined;

export interface EditorOptions {
  readonly cwd: string;
  /** Words behind `deepwright acp`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly capabilities?: ClientCapabilities;
}

/** One message of the wire, in its order. */
export interface WireLine {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
  readonly params?: { readonly sessionId?: string; readonly update?: SessionUpdate };
}

export class TestEditor {
  readonly updates: { readonly sessionId: string; readonly update: SessionUpdate }[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  /** Texts of open buffers by absolute path. */
  readonly buffers = new Map<string, string>();
  /** Files that the agent wrote through the editor. */
  readonly written: { readonly path: string; readonly content: string }[] = [];
  permit: Permit = () => "allow_once";
  elicit: (request: CreateElicitationRequest) => CreateElicitationResponse = () => ({ action: "decline" });
  agent!: ClientContext;
  initialized!: InitializeResponse;

  constructor(
    readonly child: ChildProcess,
    readonly ended: Promise<{ readonly code: number | null; readonly stderr: string }>,
    private readonly output: () => string,
  ) {}

  get lines(): readonly WireLine[] {
    const lines = this.output().split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as WireLine);
  }

  open(cwd: string, more: object = {}): Promise<NewSessionResponse> {
    return this.agent.request("session/new", { cwd, mcpServers: [], ...more });
  }

  async prompt(sessionId: string, text: string): Promise<PromptResponse> {
    const prompt = [{ type: "text" as const, text }];
    const response = await this.agent.request<PromptResponse>("session/prompt", { sessionId, prompt });
    await this.heard();
    return response;
  }

  /** Resolves when the updates before an answer have reached their handler, which may come after the answer. */
  heard(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, 0));
  }

  of(sessionId: string): readonly SessionUpdate[] {
    return this.updates.filter((one) => one.sessionId === sessionId).map(({ update }) => update);
  }

  kinds(sessionId: string): readonly string[] {
    return this.of(sessionId).map(({ sessionUpdate }) => sessionUpdate);
  }

  /** What the agent said in the session. */
  said(sessionId: string): string {
    return this.of(sessionId)
      .map((update) =>
        update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
          ? update.content.text
          : "",
      )
      .join("");
  }

  /** The newest form of each call, by id. */
  calls(sessionId: string): ReadonlyMap<string, Extract<SessionUpdate, { sessionUpdate: "tool_call" }>> {
    const calls = new Map();
    for (const update of this.of(sessionId))
      if (update.sessionUpdate === "tool_call" || update.sessionUpdate === "tool_call_update")
        calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...update });
    return calls;
  }

  readonly terminals = new Map<string, TestTerminal>();

  /** As an editor that crashes: the pipes end. */
  async hangUp(): Promise<void> {
    this.child.stdin?.destroy();
    await this.ended;
  }

  async kill(): Promise<void> {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

export async function startEditor(options: EditorOptions): Promise<TestEditor> {
  const { cwd, args = [], env = {}, name = "test", capabilities = {} } = options;
  const { child, result, stdout } = startBinary(["acp", ...args], { cwd, env, idleStdin: true });
  const editor = new TestEditor(child, result, stdout);
  afterThisFile(async () => {
    child.kill("SIGKILL");
    await result;
  });
  const readable = new ReadableStream<Uint8Array>({
    start: (controller) => {
      child.stdout?.on("data", (text: string) => controller.enqueue(new TextEncoder().encode(text)));
      child.on("close", () => controller.close());
    },
  });
  const stream = ndJsonStream(Writable.toWeb(child.stdin as Writable), readable);
  editor.agent = clientOf(editor).connect(stream).agent;
  editor.initialized = await editor.agent.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: capabilities,
    clientInfo: { name, version: "1" },
  });
  return editor;
}

function clientOf(editor: TestEditor) {
  return client({ name: "test" })
    .onNotification("session/update", ({ params }) => void editor.updates.push(params))
    .onRequest("session/request_permission", async ({ params }) => {
      editor.permissions.push(params);
      const wish = await editor.permit(params);
      const option = params.options.find(({ optionId }) => wish !== undefined && optionId.startsWith(wish));
      return {
        outcome: option ? { outcome: "selected", optionId: option.optionId } : { outcome: "cancelled" },
      };
    })
    .onRequest("elicitation/create", ({ params }) => editor.elicit(params))
    .onRequest("fs/read_text_file", ({ params: { path } }) => {
      const content = editor.buffers.get(path);
      if (content === undefined) throw new Error("no such buffer");
      return { content };
    })
    .onRequest("fs/write_text_file", ({ params: { path, content } }) => {
      editor.written.push({ path, content });
      if (editor.buffers.has(path)) editor.buffers.set(path, content);
      return {};
    })
    .onRequest("terminal/create", ({ params: { command, args = [], cwd } }) => {
      const terminal = new TestTerminal(command, args, cwd ?? "/");
      editor.terminals.set(terminal.id, terminal);
      return { terminalId: terminal.id };
    })
    .onRequest("terminal/output", ({ params: { terminalId } }) => terminal(editor, terminalId).shown())
    .onRequest("terminal/wait_for_exit", ({ params: { terminalId } }) => terminal(editor, terminalId).exited)
    .onRequest(
      "terminal/kill",
      ({ params: { terminalId } }) => void terminal(editor, terminalId).child.kill(),
    )
    .onRequest("terminal/release", () => ({}));
}

function terminal(editor: TestEditor, id: string): TestTerminal {
  return editor.terminals.get(id) as TestTerminal;
}

class TestTerminal {
  readonly id = randomUUID();
  readonly child: ChildProcess;
  readonly exited: Promise<{ readonly exitCode: number | null }>;
  private output = "";

  constructor(command: string, args: readonly string[], cwd: string) {
    this.child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
      });
    this.exited = new Promise((resolve) => {
      this.child.on("close", (exitCode) => resolve({ exitCode }));
    });
  }

  shown() {
    const { exitCode } = this.child;
    return { output: this.output, truncated: false, ...(exitCode !== null && { exitStatus: { exitCode } }) };
  }
}

/** A directory for all tests of a file, and a way to make workspaces in it. */
export async function workspaces() {
  const base = await realpath(await mkdtemp(join(tmpdir(), "deepwright-acp-")));
  afterThisFile(() => rm(base, { recursive: true, force: true }));
  return {
    base,
    env: { DEEPWRIGHT_HOME: join(base, "home"), OPENAI_API_KEY: "key" },
    /** The real path of a new directory with these files. */
    with: async (files: Readonly<Record<string, string>> = {}): Promise<string> => {
      const directory = await mkdtemp(join(base, "work-"));
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(directory, name)), { recursive: true });
        await writeFile(join(directory, name), content);
      }
      return directory;
    },
  };
}

/** Whether a process with exactly these words is at work on this machine. */
export async function isRunning(words: string): Promise<boolean> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return lines.some((line) => line.replaceAll("\0", " ").trim() === words);
}
