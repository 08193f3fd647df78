/** Daytona's API and the toolbox of its sandboxes on the loopback, as its SDK knows them; commands really run. */
import { Loopback, type LoopbackAnswer, type LoopbackRequest } from "../remote/loopback-for-tests.ts";
import { MachineFailure, MachineForTests } from "../remote/machine-for-tests.ts";

export const DAYTONA_HOME = "/home/daytona";
export const DAYTONA_KEY = "dtn_0123456789abcdef0123456789abcdef";

export interface FakeSandbox {
  readonly machine: MachineForTests;
  readonly id: string;
  /** Options of its creation. */
  readonly request: Record<string, any>;
  state: string;
  /** How often it was told that it is needed. */
  activity: number;
}

export interface DaytonaServer {
  readonly apiUrl: string;
  readonly loopback: Loopback;
  readonly sandboxes: Map<string, FakeSandbox>;
  /** Milliseconds a creation takes. */
  createDelay: number;
  /** As Daytona does after `autoStopInterval`. */
  stop(id: string): Promise<void>;
  close(): Promise<void>;
}

export async function startDaytonaServer(): Promise<DaytonaServer> {
  const sandboxes = new Map<string, FakeSandbox>();
  const loopback = await Loopback.start(async (request) => {
    if (request.headers.authorization !== `Bearer ${DAYTONA_KEY}`)
      return refusal(401, `Invalid credentials: ${request.headers.authorization}`);
    const [, area, ...rest] = request.path.split("/");
    if (area === "api") return api(server, request, rest);
    const sandbox = sandboxes.get(rest[0] ?? "");
    if (sandbox === undefined) return refusal(404, "Sandbox container not found");
    if (sandbox.state !== "started") return refusal(400, `Sandbox is not started (${sandbox.state})`);
    return toolbox(sandbox, request, `/${rest.slice(1).join("/")}`);
  });
  const server: DaytonaServer = {
    apiUrl: `${loopback.url}/api`,
    loopback,
    sandboxes,
    createDelay: 20,
    stop: async (id) => {
      const sandbox = sandboxes.get(id) as FakeSandbox;
      sandbox.state = "stopped";
      await sandbox.machine.stop();
    },
    close: async () => {
      await loopback.close();
      for (const { machine } of sandboxes.values()) await machine.kill();
    },
  };
  return server;
}

async function api(
  server: DaytonaServer,
  request: LoopbackRequest,
  path: readonly string[],
): Promise<LoopbackAnswer> {
  const { method } = request;
  const [kind, id, action] = path;
  if (kind !== "sandbox") return refusal(404, "Not found");
  if (id === undefined) return method === "POST" ? create(server, request) : list(server, request);
  const sandbox = server.sandboxes.get(id);
  if (sandbox === undefined) return refusal(404, `Sandbox with ID ${id} not found`);
  if (method === "DELETE") return destroy(server, sandbox);
  if (action === "start") {
    if (sandbox.state !== "stopped") return refusal(409, "Sandbox is not in valid state");
    sandbox.state = "starting";
    void sandbox.machine.start().then(
      () => {
        sandbox.state = "started";
      },
      () => undefined,
    );
  }
  if (action === "last-activity") sandbox.activity += 1;
  return { body: viewOf(server, sandbox) };
}

async function create(server: DaytonaServer, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const body = request.json();
  const machine = await MachineForTests.create({ paths: [DAYTONA_HOME], env: body.env ?? {} });
  const sandbox: FakeSandbox = { machine, id: machine.id, request: body, state: "creating", activity: 0 };
  server.sandboxes.set(sandbox.id, sandbox);
  setTimeout(() => {
    if (sandbox.state === "creating") sandbox.state = "started";
  }, server.createDelay);
  return { body: viewOf(server, sandbox) };
}

function list(server: DaytonaServer, { query }: LoopbackRequest): LoopbackAnswer {
  const wanted = Object.entries(JSON.parse(query.get("labels") ?? "{}"));
  const found = [...server.sandboxes.values()].filter((sandbox) =>
    wanted.every(([name, value]) => sandbox.request.labels?.[name] === value),
  );
  return { body: { items: found.map((sandbox) => viewOf(server, sandbox)), nextCursor: null } };
}

async function destroy(server: DaytonaServer, sandbox: FakeSandbox): Promise<LoopbackAnswer> {
  if (sandbox.state === "destroying") return refusal(409, "Sandbox state change in progress");
  sandbox.state = "destroying";
  void sandbox.machine.kill().then(() => server.sandboxes.delete(sandbox.id));
  return { body: viewOf(server, sandbox) };
}

function viewOf(server: DaytonaServer, { id, request, state }: FakeSandbox): Record<string, unknown> {
  return {
    id,
    name: id,
    organizationId: "organization",
    user: "daytona",
    env: request.env ?? {},
    labels: request.labels ?? {},
    public: false,
    target: "us",
    cpu: 1,
    memory: 1,
    disk: 3,
    gpu: 0,
    state,
    networkBlockAll: request.networkBlockAll ?? false,
    domainAllowList: request.domainAllowList,
    autoStopInterval: request.autoStopInterval,
    autoDeleteInterval: request.autoDeleteInterval,
    toolboxProxyUrl: `${server.loopback.url}/toolbox`,
  };
}

async function toolbox(
  sandbox: FakeSandbox,
  request: LoopbackRequest,
  path: string,
): Promise<LoopbackAnswer> {
  if (path === "/process/execute") return execute(sandbox, request);
  if (path === "/files/bulk-upload") return upload(sandbox, request);
  if (path === "/files/bulk-download") return download(sandbox, request);
  return refusal(404, "Not found");
}

/** The time-out of the request is ignored, words are split without a shell, and a client that hangs up ends nothing. */
async function execute({ machine }: FakeSandbox, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const { command, cwd, envs } = request.json();
  const process = machine.exec(wordsOf(command), { cwd: cwd ?? DAYTONA_HOME, env: envs });
  const { exitCode, stdout, stderr } = await process.closed;
  if (exitCode === null) return refusal(502, "bad gateway: the runner closed the connection");
  return { body: { exitCode, result: Buffer.concat([stdout, stderr]).toString("utf8") } };
}

function wordsOf(command: string): string[] {
  const words: string[] = [];
  let word = "";
  let quote = "";
  for (const character of command)
    if (quote === "" && (character === "'" || character === '"')) quote = character;
    else if (character === quote) quote = "";
    else if (character === " " && quote === "") {
      if (word !== "") words.push(word);
      word = "";
    } else word += character;
  return word === "" ? words : [...words, word];
}

async function upload({ machine }: FakeSandbox, { body, headers }: LoopbackRequest): Promise<LoopbackAnswer> {
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": String(headers["content-type"]) },
  }).formData();
  for (let index = 0; form.has(`files[${index}].path`); index++) {
    const path = String(form.get(`files[${index}].path`));
    const file = form.get(`files[${index}].file`) as unknown as Blob;
    try {
      await machine.writeFile(path, new Uint8Array(await file.arrayBuffer()), { makeParents: true });
    } catch (error) {
      return refusal(400, `open ${path}: ${(error as MachineFailure).code}`, "DAYTONA_DAEMON");
    }
  }
  return { body: {} };
}

const BOUNDARY = "daytona-test-boundary";

async function download({ machine }: FakeSandbox, request: LoopbackRequest): Promise<LoopbackAnswer> {
  const parts: Buffer[] = [];
  for (const path of request.json<{ paths: string[] }>().paths) {
    const { kind, type, data } = await partOf(machine, path);
    parts.push(
      Buffer.from(
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${kind}"; filename="${path}"\r\n` +
          `Content-Type: ${type}\r\nContent-Length: ${data.length}\r\n\r\n`,
      ),
      data,
      Buffer.from("\r\n"),
    );
  }
  return {
    body: Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]),
    headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` },
  };
}

async function partOf(
  machine: MachineForTests,
  path: string,
): Promise<{ readonly kind: string; readonly type: string; readonly data: Buffer }> {
  try {
    return { kind: "file", type: "application/octet-stream", data: await machine.readFile(path) };
  } catch (error) {
    if (!(error instanceof MachineFailure)) throw error;
    const [statusCode, code] = error.code === "ENOENT" ? [404, "FILE_NOT_FOUND"] : [500, "FILE_READ_FAILED"];
    const told = { message: error.code, statusCode, code, source: "DAYTONA_DAEMON" };
    return { kind: "error", type: "application/json", data: Buffer.from(JSON.stringify(told)) };
  }
}

function refusal(status: number, message: string, source = "DAYTONA_API"): LoopbackAnswer {
  return { status, body: { statusCode: status, message, source } };
}
