/**
 * Answers Modal's SDK on a loopback port as the vendor does: the control plane and, on the same port, the router that
 * runs commands. Each sandbox is a machine of its own on which commands really run.
 */
import type * as Grpc from "@grpc/grpc-js";
import { MachineForTests } from "../remote/machine-for-tests.ts";
import { ExecForTests } from "./exec-for-tests.ts";
import { controlService, grpc, routerService } from "./wire-for-tests.ts";

const { status } = grpc;

/** Failure of the next calls of a method. */
export interface GrpcFault {
  readonly code?: Grpc.status;
  readonly details?: string;
  /** Milliseconds before the answer; `Infinity`: there is none. */
  readonly delay?: number;
  /** The method is done before it goes wrong. */
  readonly after?: boolean;
  /** How many calls; default 1. */
  readonly times?: number;
}

export interface ModalPlace {
  readonly id: string;
  readonly machine: MachineForTests;
  /** Options of its creation. */
  readonly request: any;
  readonly createdAt: number;
  isOver: boolean;
  execs: number;
  idleTimer?: NodeJS.Timeout;
}

interface Exec {
  readonly owner: ModalPlace;
  readonly process: ExecForTests;
  isTimedOut: boolean;
}

export class ModalServer {
  readonly tokenId = "ak-of-the-test";
  readonly tokenSecret = "as-secret-of-the-test";
  readonly sandboxes = new Map<string, ModalPlace>();
  /** The methods called, in order. */
  readonly calls: string[] = [];
  /** Every `TaskExecStart`. */
  readonly execRequests: any[] = [];
  /** The image and the app of the last creation, as they were asked for. */
  readonly asked: { image?: readonly string[]; app?: string } = {};
  url = "";
  readonly #server = new grpc.Server({ "grpc.max_receive_message_length": 100 << 20 });
  readonly #faults = new Map<string, { readonly fault: GrpcFault; left: number }>();
  readonly #execs = new Map<string, Exec>();
  readonly #apps = new Set<string>();
  /** By the key with which the SDK marks a request that it repeats. */
  readonly #created = new Map<string, Promise<object>>();
  #count = 0;

  static async start(): Promise<ModalServer> {
    const server = new ModalServer();
    server.url = `http://127.0.0.1:${await server.#listen()}`;
    return server;
  }

  fail(method: string, fault: GrpcFault): void {
    this.#faults.set(method, { fault, left: fault.times ?? 1 });
  }

  /** Cuts all connections; the server goes on. */
  drop(): void {
    this.#server.drain(this.url.slice("http://".length), 0);
  }

  /** As when the vendor ends it: lifetime over, memory used up, machine gone. */
  async end(id: string): Promise<void> {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox || sandbox.isOver) return;
    sandbox.isOver = true;
    clearTimeout(sandbox.idleTimer);
    await sandbox.machine.kill();
  }

  running(): string[] {
    return [...this.sandboxes.values()].filter(({ isOver }) => !isOver).map(({ id }) => id);
  }

  async close(): Promise<void> {
    await Promise.all(this.running().map((id) => this.end(id)));
    this.#server.forceShutdown();
  }

  async #listen(): Promise<number> {
    this.#server.addService(
      controlService,
      this.#handlers(this.#control(), (call) => this.#checkToken(call)),
    );
    this.#server.addService(routerService, {
      ...this.#handlers(this.#router(), checkJwt),
      TaskExecStdioRead: (call: any) => this.#stream(call),
      TaskExecStdinWriteStream: (call: any, answer: any) => this.#takeInput(call, answer),
    });
    return new Promise((resolve, reject) =>
      this.#server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      ),
    );
  }

  #handlers(
    methods: Record<string, (request: any, call: any) => unknown>,
    check: (call: any) => void,
  ): Grpc.UntypedServiceImplementation {
    return Object.fromEntries(
      Object.entries(methods).map(([name, act]) => [
        name,
        async (call: any, answer: any) => {
          try {
            this.calls.push(name);
            const fault = this.#takeFault(name);
            if (!fault?.after) await suffer(fault);
            check(call);
            const result = (await act(call.request, call)) ?? {};
            if (fault?.after) await suffer(fault);
            answer(null, result);
          } catch (error) {
            answer(asStatus(error));
          }
        },
      ]),
    );
  }

  #control(): Record<string, (request: any, call: any) => unknown> {
    return {
      AuthTokenGet: () => ({ token: JWT }),
      AppGetOrCreate: ({ appName, objectCreationType }) => {
        if (!this.#apps.has(appName) && !objectCreationType) throw failure(status.NOT_FOUND, "App not found");
        this.#apps.add(appName);
        this.asked.app = appName;
        return { appId: `ap-${appName}` };
      },
      EnvironmentGetOrCreate: () => ({
        environmentId: "en-1",
        metadata: { name: "main", settings: { imageBuilderVersion: "2025.06" } },
      }),
      ImageGetOrCreate: ({ image }) => {
        this.asked.image = image.dockerfileCommands;
        return { imageId: "im-1", result: { status: 1 } };
      },
      SandboxCreateV2: (request, call) => {
        const key = String(call.metadata.get("x-idempotency-key"));
        const created = this.#created.get(key) ?? this.#create(request);
        this.#created.set(key, created);
        return created;
      },
      SandboxWaitV2: ({ sandboxId }) => ({ result: this.#find(sandboxId).isOver ? OVER : undefined }),
      SandboxTerminateV2: async ({ sandboxId }) => this.end(this.#find(sandboxId).id),
      SandboxListV2: ({ tags, beforeTimestamp }) => ({
        sandboxes: [...this.sandboxes.values()]
          .filter(({ isOver, createdAt }) => !isOver && (!beforeTimestamp || createdAt < beforeTimestamp))
          .filter(({ request }) => tags.every((tag: object) => hasTag(request.tags, tag)))
          .map(({ id, createdAt }) => ({ id, createdAt }))
          .sort((one, other) => other.createdAt - one.createdAt),
      }),
      SandboxGetTaskIdV2: ({ sandboxId }) =>
        this.#find(sandboxId).isOver ? { taskResult: OVER } : { taskId: `ta-${sandboxId}` },
      SandboxGetCommandRouterAccess: ({ sandboxId }) => {
        this.#find(sandboxId);
        return this.#access();
      },
    };
  }

  #router(): Record<string, (request: any) => unknown> {
    return {
      TaskExecStart: (request) => this.#startExec(request),
      TaskExecPoll: ({ execId }) => exitOf(this.#exec(execId)),
      TaskExecWait: async ({ execId }) => {
        const exec = this.#exec(execId);
        await exec.process.exited;
        return exitOf(this.#exec(execId));
      },
      TaskExecStdinWrite: ({ execId, data, eof }) => {
        const { process } = this.#exec(execId);
        if (data?.length) process.input(data);
        if (eof) process.endInput();
      },
      TaskExecStdinStatus: ({ execId }) => {
        const { process } = this.#exec(execId);
        return { numBytesWritten: process.written, closed: process.isInputOver };
      },
    };
  }

  async #create(request: any): Promise<object> {
    const createdAt = ++this.#count;
    const id = `sb-test-${createdAt}`;
    const machine = await MachineForTests.create({ paths: ["/root", "/workspace"] });
    const sandbox = { id, machine, request, createdAt, isOver: false, execs: 0 };
    this.sandboxes.set(id, sandbox);
    this.#countIdle(sandbox);
    return { sandboxId: id, taskId: `ta-${id}`, commandRouterAccess: this.#access() };
  }

  #access(): object {
    return { jwt: JWT, url: this.url.replace("http:", "https:") };
  }

  #startExec(request: any): void {
    this.execRequests.push(request);
    const owner = this.#find(String(request.taskId).slice("ta-".length));
    if (owner.isOver) throw failure(status.NOT_FOUND, "Task has finished");
    const env = Object.assign({}, ...request.secretSources.map((source: any) => source.env?.contents ?? {}));
    const process = new ExecForTests(owner.machine, request.commandArgs, { cwd: request.workdir, env });
    const exec: Exec = { owner, process, isTimedOut: false };
    this.#execs.set(request.execId, exec);
    owner.execs += 1;
    clearTimeout(owner.idleTimer);
    const timer = setTimeout(
      () => {
        exec.isTimedOut = true;
        process.kill();
      },
      (request.timeoutSecs || 86_400) * 1000,
    );
    void process.exited.then(() => {
      clearTimeout(timer);
      owner.execs -= 1;
      this.#countIdle(owner);
    });
  }

  #countIdle(sandbox: ModalPlace): void {
    const seconds = sandbox.request.definition?.idleTimeoutSecs;
    if (sandbox.execs > 0 || sandbox.isOver || !seconds) return;
    clearTimeout(sandbox.idleTimer);
    sandbox.idleTimer = setTimeout(() => void this.end(sandbox.id), seconds * 1000);
  }

  async #stream(call: any): Promise<void> {
    const cancelled = new AbortController();
    call.on("cancelled", () => cancelled.abort());
    try {
      this.calls.push("TaskExecStdioRead");
      await suffer(this.#takeFault("TaskExecStdioRead"));
      const { execId, offset = 0, fileDescriptor = 0 } = call.request;
      const { process, owner } = this.#exec(execId);
      const bytes = fileDescriptor === 0 ? process.stdout : process.stderr;
      for await (const data of bytes.from(offset, cancelled.signal)) call.write({ data });
      if (owner.isOver) throw failure(status.UNAVAILABLE, "The worker is gone");
      call.end();
    } catch (error) {
      call.emit("error", asStatus(error));
    }
  }

  async #takeInput(call: any, answer: any): Promise<void> {
    try {
      this.calls.push("TaskExecStdinWriteStream");
      await suffer(this.#takeFault("TaskExecStdinWriteStream"));
      let process: ExecForTests | undefined;
      for await (const message of call) {
        if (message.start) process = this.#exec(message.start.execId).process;
        if (message.data) process?.input(message.data);
        if (message.end) process?.endInput();
      }
      answer(null, {});
    } catch (error) {
      answer(asStatus(error));
    }
  }

  #find(id: string): ModalPlace {
    const sandbox = this.sandboxes.get(id);
    if (!sandbox) throw failure(status.NOT_FOUND, `Sandbox ${id} not found`);
    return sandbox;
  }

  #exec(id: string): Exec {
    const exec = this.#execs.get(id);
    if (!exec || exec.owner.isOver) throw failure(status.NOT_FOUND, "Exec not found");
    return exec;
  }

  #checkToken(call: Grpc.ServerUnaryCall<unknown, unknown>): void {
    const [id] = call.metadata.get("x-modal-token-id");
    const [secret] = call.metadata.get("x-modal-token-secret");
    if (id !== this.tokenId || secret !== this.tokenSecret)
      throw failure(status.UNAUTHENTICATED, `Token validation failed for '${id}' with ${secret}`);
  }

  #takeFault(method: string): GrpcFault | undefined {
    const found = this.#faults.get(method);
    return found && found.left-- > 0 ? found.fault : undefined;
  }
}

/** A token of three parts that is valid for long and signed by nobody. */
const JWT = [{ alg: "none" }, { exp: 4_102_444_800 }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .concat("x")
  .join(".");

/** The result of a sandbox that was ended. */
const OVER = { status: 3, exception: "terminated", exitcode: 137 };

function checkJwt(call: Grpc.ServerUnaryCall<unknown, unknown>): void {
  const [authorization] = call.metadata.get("authorization");
  if (authorization !== `Bearer ${JWT}`) throw failure(status.UNAUTHENTICATED, "Bad token");
}

async function suffer(fault: GrpcFault | undefined): Promise<void> {
  if (fault === undefined) return;
  const { delay = 0, code, details = "something went wrong" } = fault;
  if (delay === Number.POSITIVE_INFINITY) await new Promise(() => undefined);
  if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
  if (code !== undefined) throw failure(code, details);
}

function failure(code: Grpc.status, details: string): Error {
  return Object.assign(new Error(details), { code, details });
}

function asStatus(error: any): object {
  return { code: typeof error.code === "number" ? error.code : status.INTERNAL, details: error.message };
}

function exitOf({ process, isTimedOut }: Exec): object {
  const code = process.exit?.exitCode;
  if (code === undefined || code === null) return {};
  if (isTimedOut) return { code: 124 };
  return code > 128 ? { signal: code - 128 } : { code };
}

function hasTag(tags: any[], wanted: any): boolean {
  return tags.some(({ tagName, tagValue }) => tagName === wanted.tagName && tagValue === wanted.tagValue);
}
