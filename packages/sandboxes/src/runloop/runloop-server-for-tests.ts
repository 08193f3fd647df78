/** Runloop's API on the loopback, as its SDK knows it; commands really run. */
import { randomBytes } from "node:crypto";
import { Loopback, type LoopbackAnswer, type LoopbackRequest } from "../remote/loopback-for-tests.ts";
import { MachineFailure, MachineForTests, type MachineProcess } from "../remote/machine-for-tests.ts";

export const RUNLOOP_HOME = "/home/user";
export const RUNLOOP_KEY = "ak_0123456789abcdef0123456789abcdef";

export interface FakeDevbox {
  readonly machine: MachineForTests;
  readonly id: string;
  /** Options of its creation. */
  readonly request: Record<string, any>;
  readonly executions: Map<string, FakeExecution>;
  status: string;
  /** How often it was told that it is needed. */
  keptAlive: number;
}

interface FakeExecution {
  readonly process: MachineProcess;
  exitCode: number | null;
  stdout: string;
  isOver: boolean;
}

export interface RunloopServer {
  readonly baseUrl: string;
  readonly loopback: Loopback;
  readonly devboxes: Map<string, FakeDevbox>;
  /** As Runloop does when a devbox is idle and configured so. */
  suspend(id: string): Promise<void>;
  close(): Promise<void>;
}

/** Milliseconds until an answer comes that the command still runs; Runloop waits 25 s. */
const HOLD = 400;
/** Characters of output that are part of an answer; the rest is streamed. */
const MAX_INLINE = 20_000;
const START_DELAY = 20;

export async function startRunloopServer(): Promise<RunloopServer> {
  const devboxes = new Map<string, FakeDevbox>();
  const loopback = await Loopback.start(async (request) => {
    if (request.headers.authorization !== `Bearer ${RUNLOOP_KEY}`)
      return refusal(401, `Invalid API key: ${request.headers.authorization}`);
    const [, version, area, id, ...rest] = request.path.split("/");
    if (version !== "v1" || area !== "devboxes") return refusal(404, "Not found");
    if (id === undefined)
      return request.method === "POST" ? create(devboxes, request) : list(devboxes, request);
    const devbox = devboxes.get(id);
    if (devbox === undefined) return refusal(404, `Devbox ${id} not found`);
    return serve(devbox, request, rest);
  });
  return {
    baseUrl: loopback.url,
    loopback,
    devboxes,
    suspend: async (id) => {
      const devbox = devboxes.get(id) as FakeDevbox;
      devbox.status = "suspended";
      await devbox.machine.stop();
    },
    close: async () => {
      await loopback.close();
      for (const { machine } of devboxes.values()) await machine.kill();
    },
  };
}

async function create(devboxes: Map<string, FakeDevbox>, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const machine = await MachineForTests.create({ paths: [RUNLOOP_HOME] });
  const devbox: FakeDevbox = {
    machine,
    id: `dbx_${machine.id}`,
    request: request.json(),
    executions: new Map(),
    status: "provisioning",
    keptAlive: 0,
  };
  devboxes.set(devbox.id, devbox);
  setTimeout(() => {
    if (devbox.status === "provisioning") devbox.status = "running";
  }, START_DELAY);
  return { body: viewOf(devbox) };
}

/** Pages of two, so that a list of some devboxes has several. */
function list(devboxes: Map<string, FakeDevbox>, { query }: LoopbackRequest): LoopbackAnswer {
  const all = [...devboxes.values()];
  const start = all.findIndex(({ id }) => id === query.get("starting_after")) + 1;
  const page = all.slice(start, start + 2);
  return {
    body: {
      devboxes: page.map(viewOf),
      has_more: start + 2 < all.length,
      remaining_count: 0,
      total_count: 0,
    },
  };
}

async function serve(
  devbox: FakeDevbox,
  request: LoopbackRequest,
  [action, execution, more]: readonly string[],
): Promise<LoopbackAnswer> {
  switch (action) {
    case undefined:
      return { body: viewOf(devbox) };
    case "wait_for_status":
      return waitForStatus(devbox, request);
    case "shutdown":
      devbox.status = "shutdown";
      await devbox.machine.kill();
      return { body: viewOf(devbox) };
    case "resume":
      if (devbox.status !== "suspended") return refusal(400, "Devbox is not suspended");
      devbox.status = "resuming";
      void devbox.machine.start().then(
        () => {
          devbox.status = "running";
        },
        () => undefined,
      );
      return { body: viewOf(devbox) };
    case "keep_alive":
      devbox.keptAlive += 1;
      return { body: {} };
    default:
  }
  if (devbox.status !== "running") return refusal(400, `Devbox is not running (${devbox.status})`);
  switch (action) {
    case "execute":
      return execute(devbox, request);
    case "executions":
      return executionCall(devbox, request, execution ?? "", more);
    case "upload_file":
      return upload(devbox, request);
    case "download_file":
      return download(devbox, request);
    default:
      return refusal(404, "Not found");
  }
}

async function waitForStatus(devbox: FakeDevbox, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const { statuses } = request.json<{ statuses: string[] }>();
  for (let waited = 0; waited < HOLD; waited += 10) {
    if (statuses.includes(devbox.status)) return { body: viewOf(devbox) };
    await pause(10);
  }
  return refusal(408, "Timed out waiting for the status");
}

/** A client that hangs up ends nothing; a command that was sent before is not run again. */
async function execute(devbox: FakeDevbox, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const { command, command_id: id = randomBytes(8).toString("hex") } = request.json();
  if (!devbox.executions.has(id)) {
    const process = devbox.machine.exec(["bash", "-c", command], { cwd: RUNLOOP_HOME });
    const execution: FakeExecution = { process, exitCode: null, stdout: "", isOver: false };
    devbox.executions.set(id, execution);
    void process.closed.then(({ exitCode, stdout }) => {
      execution.exitCode = exitCode;
      execution.stdout = stdout.toString("utf8");
      execution.isOver = true;
    });
  }
  return executionAnswer(devbox, id, request);
}

async function executionCall(
  devbox: FakeDevbox,
  request: LoopbackRequest,
  id: string,
  action: string | undefined,
): Promise<LoopbackAnswer> {
  const execution = devbox.executions.get(id);
  if (execution === undefined) return refusal(404, "Execution not found");
  if (action === "wait_for_status") {
    const answer = await executionAnswer(devbox, id, request);
    if (!execution.isOver) return refusal(408, "Timed out waiting for the status");
    return answer;
  }
  if (action !== "stream_stdout_updates") return refusal(404, "Not found");
  const pieces = execution.stdout.match(/.{1,10000}/gs) ?? [];
  const events = pieces.map((output) => `data: ${JSON.stringify({ output })}\n\n`);
  return { body: events.join(""), headers: { "content-type": "text/event-stream" } };
}

async function executionAnswer(
  devbox: FakeDevbox,
  id: string,
  { query }: LoopbackRequest,
): Promise<LoopbackAnswer> {
  const execution = devbox.executions.get(id) as FakeExecution;
  await Promise.race([execution.process.closed, pause(HOLD)]);
  if (devbox.status !== "running") return refusal(400, `Devbox is not running (${devbox.status})`);
  const base = { devbox_id: devbox.id, execution_id: id };
  if (!execution.isOver) return { body: { ...base, status: "running" } };
  const lines = execution.stdout.split("\n").slice(-Number(query.get("last_n") ?? 100) - 1);
  const stdout = lines.join("\n").slice(-MAX_INLINE);
  const isCut = stdout.length < execution.stdout.length;
  return {
    body: {
      ...base,
      status: "completed",
      exit_status: execution.exitCode,
      stdout,
      stdout_truncated: isCut,
      stderr: "",
    },
  };
}

async function upload({ machine }: FakeDevbox, { body, headers }: LoopbackRequest): Promise<LoopbackAnswer> {
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": String(headers["content-type"]) },
  }).formData();
  const file = form.get("file") as unknown as Blob;
  return attempt(async () => {
    await machine.writeFile(String(form.get("path")), new Uint8Array(await file.arrayBuffer()));
    return { body: {} };
  });
}

async function download({ machine }: FakeDevbox, request: LoopbackRequest): Promise<LoopbackAnswer> {
  return attempt(async () => ({ body: await machine.readFile(request.json<{ path: string }>().path) }));
}

async function attempt(act: () => Promise<LoopbackAnswer>): Promise<LoopbackAnswer> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof MachineFailure) return refusal(400, `The file cannot be used: ${error.code}`);
    throw error;
  }
}

function viewOf({ id, request, status }: FakeDevbox): Record<string, unknown> {
  return {
    id,
    name: request.name ?? null,
    status,
    metadata: request.metadata ?? {},
    launch_parameters: request.launch_parameters ?? {},
    capabilities: [],
    state_transitions: [],
    create_time_ms: 0,
    end_time_ms: null,
  };
}

function refusal(status: number, message: string): LoopbackAnswer {
  return { status, body: { message } };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
