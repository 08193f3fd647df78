/** LangSmith's sandbox API and the data plane of its sandboxes on the loopback, as the SDK knows them; commands really run. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { Loopback, type LoopbackAnswer, type LoopbackRequest } from "../remote/loopback-for-tests.ts";
import { MachineFailure, MachineForTests, type MachineProcess } from "../remote/machine-for-tests.ts";
import { WebSocketForTests } from "./web-socket-for-tests.ts";

export const LANGSMITH_KEY = "lsv2_pt_0123456789abcdef0123456789abcdef_0123456789";
export const LANGSMITH_HOME = "/root";

export interface FakeSandbox {
  readonly machine: MachineForTests;
  readonly id: string;
  readonly name: string;
  /** Options of its creation. */
  readonly request: Record<string, any>;
  status: string;
  /** Commands by their id, as the SDK comes back to them. */
  readonly commands: Map<string, Command>;
}

interface Command {
  readonly process: MachineProcess;
  readonly output: { readonly stream: string; readonly data: string; readonly offset: number }[];
  exitCode?: number;
}

export class LangSmithServer {
  readonly loopback: Loopback;
  readonly sandboxes = new Map<string, FakeSandbox>();
  /** Open sockets of commands. */
  readonly sockets = new Set<WebSocketForTests>();
  /** Milliseconds a creation takes. */
  createDelay = 20;
  /** A status with which sockets are refused; 0: they are not. */
  refuseSockets = 0;
  /** Whether what sockets say is heard, and not answered. */
  isSilent = false;

  private constructor(loopback: Loopback) {
    this.loopback = loopback;
    loopback.server.on("upgrade", (request: IncomingMessage, socket: Duplex) =>
      this.#upgrade(request, socket),
    );
  }

  static async start(): Promise<LangSmithServer> {
    const handler: { server?: LangSmithServer } = {};
    const loopback = await Loopback.start(async (request) => handler.server?.handle(request));
    handler.server = new LangSmithServer(loopback);
    return handler.server;
  }

  get apiUrl(): string {
    return `${this.loopback.url}/v2/sandboxes`;
  }

  /** As LangSmith does after `idle_ttl_seconds`. */
  async stop(name: string): Promise<void> {
    const sandbox = this.sandboxes.get(name) as FakeSandbox;
    sandbox.status = "stopped";
    await sandbox.machine.stop();
  }

  async close(): Promise<void> {
    await this.loopback.close();
    for (const { machine } of this.sandboxes.values()) await machine.kill();
  }

  async handle(request: LoopbackRequest): Promise<LoopbackAnswer> {
    if (request.headers["x-api-key"] !== LANGSMITH_KEY)
      return refusal(401, "Unauthorized", `Invalid token ${String(request.headers["x-api-key"])}`);
    const [, area, ...rest] = request.path.split("/").map((part) => decodeURIComponent(part));
    if (area === "v2") return this.#api(request, rest.slice(2));
    const sandbox = [...this.sandboxes.values()].find(({ id }) => id === rest[0]);
    if (sandbox === undefined) return refusal(404, "NotFound", "sandbox not found");
    if (rest[1] === "upload") return upload(sandbox, request);
    if (rest[1] === "download") return download(sandbox, request);
    return refusal(404, "NotFound", "no such route");
  }

  async #api(request: LoopbackRequest, [name, action]: readonly string[]): Promise<LoopbackAnswer> {
    const { method } = request;
    if (name === undefined && method === "POST") return this.#create(request);
    if (name === undefined)
      return { body: { sandboxes: [...this.sandboxes.values()].map((sandbox) => this.#viewOf(sandbox)) } };
    const sandbox = this.sandboxes.get(name);
    if (sandbox === undefined) return refusal(404, "NotFound", `Sandbox '${name}' not found`);
    if (method === "DELETE") return this.#delete(sandbox);
    if (action === "status") return { body: { status: sandbox.status } };
    if (action === "start") {
      await sandbox.machine.start();
      sandbox.status = "ready";
    }
    return { body: this.#viewOf(sandbox) };
  }

  async #create(request: LoopbackRequest): Promise<LoopbackAnswer> {
    const body = request.json();
    const name: string = body.name ?? randomUUID();
    if (this.sandboxes.has(name)) return refusal(409, "Conflict", `Sandbox name '${name}' already in use`);
    const machine = await MachineForTests.create({
      paths: [LANGSMITH_HOME],
      env: body.run_config?.env_vars ?? {},
    });
    const sandbox = { machine, id: machine.id, name, request: body, status: "ready", commands: new Map() };
    await new Promise((resolve) => setTimeout(resolve, this.createDelay));
    this.sandboxes.set(name, sandbox);
    return { status: 201, body: this.#viewOf(sandbox) };
  }

  async #delete(sandbox: FakeSandbox): Promise<LoopbackAnswer> {
    this.sandboxes.delete(sandbox.name);
    await sandbox.machine.kill();
    return { status: 204 };
  }

  #viewOf({ id, name, request, status }: FakeSandbox): Record<string, unknown> {
    return {
      id,
      name,
      status,
      dataplane_url: `${this.loopback.url}/data/${id}`,
      idle_ttl_seconds: request.idle_ttl_seconds ?? 600,
      delete_after_stop_seconds: request.delete_after_stop_seconds ?? 1_209_600,
    };
  }

  #upgrade(request: IncomingMessage, socket: Duplex): void {
    this.loopback.requests.push(`SOCKET ${request.url}`);
    const sandbox = [...this.sandboxes.values()].find(({ id }) => request.url === `/data/${id}/execute/ws`);
    const status =
      this.refuseSockets !== 0
        ? this.refuseSockets
        : request.headers["x-api-key"] !== LANGSMITH_KEY
          ? 401
          : sandbox === undefined
            ? 404
            : 101;
    if (sandbox === undefined || status !== 101) {
      socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    const webSocket = WebSocketForTests.accept(
      request,
      socket,
      (text) => void this.#message(sandbox, webSocket, JSON.parse(text)),
      () => this.sockets.delete(webSocket),
    );
    this.sockets.add(webSocket);
  }

  async #message(
    sandbox: FakeSandbox,
    socket: WebSocketForTests,
    message: Record<string, any>,
  ): Promise<void> {
    if (sandbox.status === "stopped") {
      await sandbox.machine.start();
      sandbox.status = "ready";
    }
    if (this.isSilent) return;
    if (message.type === "execute") {
      if (!sandbox.commands.has(message.command_id))
        sandbox.commands.set(message.command_id, start(sandbox, message));
      follow(sandbox.commands.get(message.command_id) as Command, socket, message.command_id, {});
    } else if (message.type === "reconnect") {
      const command = sandbox.commands.get(message.command_id);
      if (command === undefined)
        socket.send(
          JSON.stringify({ type: "error", error_type: "CommandNotFound", error: "no such command" }),
        );
      else
        follow(command, socket, message.command_id, {
          stdout: message.stdout_offset,
          stderr: message.stderr_offset,
        });
    }
  }
}

/** The shell is the one asked for; the time-out of the request is ignored, so that it is ours that counts. */
function start({ machine }: FakeSandbox, message: Record<string, any>): Command {
  const process = machine.exec([message.shell, "-c", message.command], {
    cwd: message.cwd ?? LANGSMITH_HOME,
    env: message.env ?? {},
  });
  const offsets: Record<string, number> = { stdout: 0, stderr: 0 };
  const command: Command = { process, output: [] };
  process.onOutput((stream, data) => {
    command.output.push({ stream, data: data.toString("utf8"), offset: offsets[stream] as number });
    offsets[stream] = (offsets[stream] as number) + data.length;
  });
  return command;
}

/** Sends what there is from the offsets on, then what comes. A machine that ends takes its sockets with it. */
function follow(
  { process, output }: Command,
  socket: WebSocketForTests,
  id: string,
  from: Readonly<Record<string, number | undefined>>,
): void {
  socket.send(JSON.stringify({ type: "started", command_id: id, pid: 1 }));
  let sent = 0;
  const flush = (): void => {
    for (; sent < output.length; sent++) {
      const { stream, data, offset } = output[sent] as Command["output"][number];
      if (offset >= (from[stream] ?? 0)) socket.send(JSON.stringify({ type: stream, data, offset }));
    }
  };
  flush();
  process.onOutput(() => queueMicrotask(flush));
  void process.exited.then(({ exitCode }) => {
    setTimeout(() => {
      flush();
      if (exitCode === null) socket.drop();
      else {
        socket.send(JSON.stringify({ type: "exit", exit_code: exitCode }));
        socket.close();
      }
    }, 5);
  });
}

async function upload(
  { machine }: FakeSandbox,
  { body, headers, query }: LoopbackRequest,
): Promise<LoopbackAnswer> {
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": String(headers["content-type"]) },
  }).formData();
  const file = form.get("file") as unknown as Blob;
  const path = query.get("path") ?? "";
  try {
    await machine.writeFile(path, new Uint8Array(await file.arrayBuffer()), { makeParents: true });
  } catch (error) {
    return refusal(500, "WriteError", `open ${path}: ${(error as MachineFailure).code}`);
  }
  return { body: { path } };
}

async function download({ machine }: FakeSandbox, { query }: LoopbackRequest): Promise<LoopbackAnswer> {
  const path = query.get("path") ?? "";
  try {
    return { body: new Uint8Array(await machine.readFile(path)) };
  } catch (error) {
    if (!(error instanceof MachineFailure)) throw error;
    return error.code === "ENOENT"
      ? refusal(404, "FileNotFound", `${path} not found`)
      : refusal(500, "ReadError", `open ${path}: ${error.code}`);
  }
}

function refusal(status: number, error: string, message: string): LoopbackAnswer {
  return { status, body: { detail: { error, message } } };
}
