/**
 * Answers E2B's SDK on a loopback port as the vendor does: the API and, on the same port, the daemon of each sandbox,
 * which speaks Connect with JSON. Each sandbox is a machine of its own on which commands really run.
 */
import { Loopback, type LoopbackAnswer, type LoopbackRequest } from "../remote/loopback-for-tests.ts";
import { MachineFailure, MachineForTests, type MachineProcess } from "../remote/machine-for-tests.ts";

export interface E2bPlace {
  readonly id: string;
  readonly machine: MachineForTests;
  /** Options of its creation. */
  readonly request: any;
  readonly processes: Map<number, MachineProcess>;
  /** Milliseconds since 1970 at which the vendor ends it. */
  endsAt: number;
  /** How often a client was told that it gets the output of a command. */
  streams: number;
  isOver: boolean;
  timer?: NodeJS.Timeout;
}

export class E2bServer {
  readonly apiKey = "e2b_0123456789abcdef0123456789abcdef01234567";
  readonly sandboxes = new Map<string, E2bPlace>();
  /** The body of every `Process/Start`, and its user. */
  readonly starts: any[] = [];
  readonly loopback: Loopback;
  #count = 0;

  private constructor(loopback: Loopback) {
    this.loopback = loopback;
  }

  static async start(): Promise<E2bServer> {
    const started: E2bServer[] = [];
    const loopback = await Loopback.start(async (request) => started[0]!.#answer(request));
    started.push(new E2bServer(loopback));
    return started[0]!;
  }

  get url(): string {
    return this.loopback.url;
  }

  /** Cuts all connections; the server goes on. */
  drop(): void {
    this.loopback.server.closeAllConnections();
  }

  /** As when the vendor ends it: time over or machine gone. */
  async end(id: string): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox || sandbox.isOver) return;
    sandbox.isOver = true;
    clearTimeout(sandbox.timer);
    await sandbox.machine.kill();
  }

  running(): string[] {
    return [...this.sandboxes.values()].filter(({ isOver }) => !isOver).map(({ id }) => id);
  }

  async close(): Promise<void> {
    await Promise.all(this.running().map((id) => this.end(id)));
    await this.loopback.close();
  }

  async #answer(request: LoopbackRequest): Promise<LoopbackAnswer> {
    if (/^\/(v2\/)?sandboxes\b/.test(request.path)) return this.#api(request);
    const sandbox = this.sandboxes.get(String(request.headers["e2b-sandbox-id"]));
    if (!sandbox || sandbox.isOver) return refusal(502, "The sandbox was not found");
    if (request.headers["x-access-token"] !== "envd-token") return refusal(401, "unauthorized access token");
    return daemon(sandbox, request, this.starts);
  }

  async #api({ method, path, headers, query, json }: LoopbackRequest): Promise<LoopbackAnswer> {
    const key = headers["x-api-key"];
    if (key !== this.apiKey) return refusal(401, `Invalid API key, ${key} is not known`);
    if (path === "/v2/sandboxes" && method === "POST")
      return { status: 201, body: await this.#create(json()) };
    if (path === "/v2/sandboxes") return { body: this.#list(query.get("metadata")) };
    const [, id = "", action = ""] = /\/sandboxes\/([^/]+)\/?(\w*)/.exec(path) ?? [];
    const sandbox = this.sandboxes.get(id);
    if (!sandbox || sandbox.isOver) return refusal(404, `Sandbox "${id}" doesn't exist`);
    if (method === "DELETE") {
      await this.end(id);
      return { status: 204 };
    }
    if (action === "timeout") {
      this.#countDown(sandbox, json().timeout);
      return { status: 204 };
    }
    if (action === "connect") {
      const { timeout } = json();
      if (Date.now() + timeout * 1000 > sandbox.endsAt) this.#countDown(sandbox, timeout);
      return { body: handleOf(sandbox) };
    }
    return { body: infoOf(sandbox) };
  }

  async #create(request: any): Promise<object> {
    const id = `test${++this.#count}`;
    const machine = await MachineForTests.create({ paths: ["/home/user"] });
    const sandbox = { id, machine, request, processes: new Map(), endsAt: 0, streams: 0, isOver: false };
    this.sandboxes.set(id, sandbox);
    this.#countDown(sandbox, request.timeout ?? 300);
    return handleOf(sandbox);
  }

  #countDown(sandbox: E2bPlace, seconds: number): void {
    clearTimeout(sandbox.timer);
    sandbox.endsAt = Date.now() + seconds * 1000;
    sandbox.timer = setTimeout(() => void this.end(sandbox.id), seconds * 1000);
  }

  #list(metadata: string | null): object[] {
    const wanted = [...new URLSearchParams(metadata ?? "")].map((pair) => pair.map(decodeURIComponent));
    return [...this.sandboxes.values()]
      .filter(({ isOver }) => !isOver)
      .filter(({ request }) => wanted.every(([name, value]) => request.metadata?.[name as string] === value))
      .map(infoOf);
  }
}

async function daemon(sandbox: E2bPlace, request: LoopbackRequest, starts: any[]): Promise<LoopbackAnswer> {
  const { method, path } = request;
  if (path === "/health") return { status: 204 };
  if (path === "/files") return files(sandbox, request);
  if (path === "/process.Process/Start") return start(sandbox, request, starts);
  if (path === "/process.Process/Connect") return connect(sandbox, request);
  if (path === "/process.Process/SendSignal") {
    const { process, signal } = request.json();
    const found = sandbox.processes.get(process.pid);
    if (!found) return { status: 404, body: { code: "not_found", message: "process not found" } };
    found.kill(signal === "SIGNAL_SIGTERM" ? "SIGTERM" : "SIGKILL");
    return { body: {} };
  }
  return refusal(404, `no such route: ${method} ${path}`);
}

/** The end of the connection does not end the process; its time does. */
async function start(sandbox: E2bPlace, request: LoopbackRequest, starts: any[]): Promise<undefined> {
  const body = JSON.parse(request.body.subarray(5).toString());
  const [user] = Buffer.from(String(request.headers.authorization).slice("Basic ".length), "base64")
    .toString()
    .split(":");
  starts.push({ ...body, user });
  const { cmd, args = [], envs, cwd = "/home/user" } = body.process;
  const process = sandbox.machine.exec([cmd, ...args], { cwd, env: envs });
  const pid = await process.pid;
  sandbox.processes.set(pid, process);
  const limit = Number(request.headers["connect-timeout-ms"] ?? 0);
  const timer = limit > 0 ? setTimeout(() => process.kill("SIGKILL"), limit) : undefined;
  void process.closed.then(() => {
    clearTimeout(timer);
    sandbox.processes.delete(pid);
  });
  await stream(sandbox, pid, process, request, true);
}

/** Output that was sent before is not sent again. */
async function connect(sandbox: E2bPlace, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const { pid } = JSON.parse(request.body.subarray(5).toString()).process;
  const process = sandbox.processes.get(pid);
  if (process !== undefined) return stream(sandbox, pid, process, request, false);
  const error = { code: "not_found", message: "process not found" };
  request.response.writeHead(200, { "content-type": "application/connect+json" });
  request.response.end(envelope({ error }, 2));
  return undefined;
}

/** Tells what the process does, until it is over and its output closed. */
async function stream(
  sandbox: E2bPlace,
  pid: number,
  process: MachineProcess,
  { response }: LoopbackRequest,
  isFirst: boolean,
): Promise<undefined> {
  response.writeHead(200, { "content-type": "application/connect+json" });
  response.write(envelope({ event: { start: { pid } } }), () => {
    sandbox.streams += 1;
  });
  let isNew = isFirst;
  process.onOutput((name, data) => {
    if (isNew) response.write(envelope({ event: { data: { [name]: data.toString("base64") } } }));
  });
  isNew = true;
  const { exitCode } = await process.closed;
  if (exitCode === null || sandbox.isOver) {
    response.destroy();
    return;
  }
  const end =
    exitCode > 128
      ? { exitCode: -1, exited: false, status: "signal: killed", error: "signal: killed" }
      : { exitCode, exited: true, status: `exit status ${exitCode}` };
  response.write(envelope({ event: { end } }));
  response.end(envelope({}, 2));
}

async function files({ machine }: E2bPlace, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const path = request.query.get("path") ?? "";
  try {
    if (request.method === "GET") return { body: await machine.readFile(path) };
    await machine.writeFile(path, request.body, { makeParents: true });
    return { body: [{ name: path.split("/").at(-1), type: "file", path }] };
  } catch (error) {
    if (!(error instanceof MachineFailure)) throw error;
    if (error.code === "ENOENT") return refusal(404, `path '${path}' does not exist`);
    return refusal(error.code === "EISDIR" ? 400 : 500, `error opening file: ${error.message}`);
  }
}

function handleOf({ id }: E2bPlace): object {
  return {
    sandboxID: id,
    templateID: "base",
    clientID: "client",
    envdVersion: "0.6.2",
    envdAccessToken: "envd-token",
  };
}

function infoOf(sandbox: E2bPlace): object {
  return {
    ...handleOf(sandbox),
    metadata: sandbox.request.metadata,
    startedAt: new Date().toISOString(),
    endAt: new Date(sandbox.endsAt).toISOString(),
    state: "running",
    cpuCount: 2,
    memoryMB: 512,
  };
}

/** A message of a Connect stream; flag 2 is its end. */
function envelope(message: object, flags = 0): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(json.length, 1);
  return Buffer.concat([head, json]);
}

function refusal(status: number, message: string): LoopbackAnswer {
  return { status, body: { code: status, message } };
}
