/** AgentCore's code interpreter on the loopback, as the SDK knows it; commands really run. */
import { crc32 } from "node:zlib";
import { Loopback, type LoopbackAnswer, type LoopbackRequest } from "../remote/loopback-for-tests.ts";
import { type MachineFailure, MachineForTests } from "../remote/machine-for-tests.ts";

export const AGENTCORE_CREDENTIALS = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY",
};
/** Where the service's commands start and its files lie. */
export const AGENTCORE_HOME = "/opt/interpreter";

export interface FakeSession {
  readonly machine: MachineForTests;
  readonly id: string;
  /** Options of its creation. */
  readonly request: Record<string, any>;
  status: "READY" | "TERMINATED";
}

export class AgentCoreServer {
  readonly loopback: Loopback;
  readonly sessions = new Map<string, FakeSession>();
  /** Milliseconds a start takes. */
  startDelay = 20;
  /** An exception that the streams of the next calls have instead of a result. */
  streamFault: { readonly type: string; readonly message: string } | undefined;

  private constructor(loopback: Loopback) {
    this.loopback = loopback;
  }

  static async start(): Promise<AgentCoreServer> {
    const handler: { server?: AgentCoreServer } = {};
    const loopback = await Loopback.start(async (request) => handler.server?.handle(request));
    handler.server = new AgentCoreServer(loopback);
    return handler.server;
  }

  get endpoint(): string {
    return this.loopback.url;
  }

  async close(): Promise<void> {
    await this.loopback.close();
    for (const { machine } of this.sessions.values()) await machine.kill();
  }

  async terminate(id: string): Promise<void> {
    const session = this.sessions.get(id) as FakeSession;
    session.status = "TERMINATED";
    await session.machine.kill();
  }

  async handle(request: LoopbackRequest): Promise<LoopbackAnswer> {
    if (!String(request.headers.authorization).includes(`Credential=${AGENTCORE_CREDENTIALS.accessKeyId}/`))
      return refusal(
        403,
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
      );
    const [, , interpreter, area, action] = request.path.split("/").map((part) => decodeURIComponent(part));
    const call = `${area}/${action}`;
    if (call === "sessions/start") return this.#start(request, interpreter as string);
    if (call === "sessions/list") return this.#list(request, interpreter as string);
    const id =
      request.query.get("sessionId") ?? String(request.headers["x-amzn-code-interpreter-session-id"]);
    const session = this.sessions.get(id);
    if (session === undefined) return refusal(404, "ResourceNotFoundException", `Session ${id} not found`);
    if (call === "sessions/get") return { body: this.#viewOf(session, interpreter as string) };
    if (call === "sessions/stop") {
      await this.terminate(id);
      return {
        body: { ...this.#viewOf(session, interpreter as string), lastUpdatedAt: new Date().toISOString() },
      };
    }
    if (session.status === "TERMINATED")
      return refusal(404, "ResourceNotFoundException", `Session ${id} is terminated`);
    return this.#invoke(session, request);
  }

  async #start(request: LoopbackRequest, interpreter: string): Promise<LoopbackAnswer> {
    const body = request.json();
    const again = [...this.sessions.values()].find(
      ({ request: { clientToken } }) => clientToken === body.clientToken,
    );
    if (again !== undefined) return { body: this.#viewOf(again, interpreter) };
    const machine = await MachineForTests.create({ paths: [AGENTCORE_HOME] });
    await new Promise((resolve) => setTimeout(resolve, this.startDelay));
    const session: FakeSession = { machine, id: machine.id, request: body, status: "READY" };
    this.sessions.set(session.id, session);
    return { body: this.#viewOf(session, interpreter) };
  }

  /** Two a page. */
  #list(request: LoopbackRequest, interpreter: string): LoopbackAnswer {
    const { nextToken = "0", status } = request.json();
    const start = Number(nextToken);
    const wanted = [...this.sessions.values()].filter(
      (session) => status === undefined || session.status === status,
    );
    const items = wanted.slice(start, start + 2).map((session) => this.#viewOf(session, interpreter));
    return { body: { items, ...(start + 2 < wanted.length ? { nextToken: String(start + 2) } : {}) } };
  }

  #viewOf({ id, request, status }: FakeSession, interpreter: string): Record<string, unknown> {
    return {
      codeInterpreterIdentifier: interpreter,
      sessionId: id,
      name: request.name,
      status,
      sessionTimeoutSeconds: request.sessionTimeoutSeconds,
      createdAt: new Date().toISOString(),
    };
  }

  async #invoke(session: FakeSession, { json, response }: LoopbackRequest): Promise<LoopbackAnswer> {
    const { name, arguments: args } = json();
    if (this.streamFault !== undefined) {
      const { type, message } = this.streamFault;
      return streamed(eventOf({ ":message-type": "exception", ":exception-type": type }, { message }));
    }
    const result = await (name === "writeFiles" ? writeFiles(session, args) : executeCommand(session, args));
    if (result === undefined) {
      response.destroy();
      return undefined;
    }
    return streamed(eventOf({ ":message-type": "event", ":event-type": "result" }, result));
  }
}

/** Undefined: the session ended meanwhile. */
async function executeCommand({ machine }: FakeSession, { command }: Record<string, any>) {
  const { exitCode, stdout, stderr } = await machine.shell(command, { cwd: AGENTCORE_HOME }).closed;
  if (exitCode === null) return undefined;
  return {
    content: [{ type: "text", text: stdout.toString("utf8") }],
    structuredContent: {
      stdout: stdout.toString("utf8"),
      stderr: stderr.toString("utf8"),
      exitCode,
      executionTime: 0.1,
    },
    isError: exitCode !== 0,
  };
}

/** Names are relative, as AWS has them; anything else is refused. */
async function writeFiles({ machine }: FakeSession, { content }: Record<string, any>) {
  for (const { path, blob, text } of content as { path: string; blob?: string; text?: string }[]) {
    const isInside = !path.startsWith("/") && !path.split("/").includes("..");
    if (!isInside) return { content: [{ type: "text", text: `Invalid path ${path}` }], isError: true };
    const bytes = blob === undefined ? Buffer.from(text ?? "") : Buffer.from(blob, "base64");
    try {
      await machine.writeFile(`${AGENTCORE_HOME}/${path}`, bytes, { makeParents: true });
    } catch (error) {
      return { content: [{ type: "text", text: (error as MachineFailure).code }], isError: true };
    }
  }
  return { content: [{ type: "text", text: "Successfully wrote all files" }], isError: false };
}

function streamed(body: Buffer): LoopbackAnswer {
  return { body, headers: { "content-type": "application/vnd.amazon.eventstream" } };
}

/** A message of `application/vnd.amazon.eventstream`. */
function eventOf(headers: Readonly<Record<string, string>>, value: unknown): Buffer {
  const payload = Buffer.from(JSON.stringify(value));
  const head = Buffer.concat(
    Object.entries({ ...headers, ":content-type": "application/json" }).map(([name, text]) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(Buffer.byteLength(text));
      return Buffer.concat([
        Buffer.of(name.length),
        Buffer.from(name),
        Buffer.of(7),
        length,
        Buffer.from(text),
      ]);
    }),
  );
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + head.length + payload.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  const message = Buffer.concat([prelude, sumOf(prelude), head, payload]);
  return Buffer.concat([message, sumOf(message)]);
}

function sumOf(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}

function refusal(status: number, type: string, message: string): LoopbackAnswer {
  return { status, body: { message }, headers: { "x-amzn-errortype": type } };
}
