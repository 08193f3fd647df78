/** How sessions of AgentCore's code interpreter are started, found and ended. */
import { createHash, randomBytes } from "node:crypto";
import type { BedrockAgentCoreClient } from "@aws-sdk/client-bedrock-agentcore";
import { borrowedSandbox } from "../borrowed-sandbox.ts";
import type { NetworkReach, OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";
import { createOrUndo } from "../remote/create-or-undo.ts";
import { RemoteSandbox } from "../remote/remote-sandbox.ts";
import { loadVendor } from "../remote/vendor.ts";
import { agentCoreCall, isMissing } from "./agentcore-calls.ts";
import { AgentCoreMachine, type AgentCoreSdk } from "./agentcore-machine.ts";
import type { AgentCoreHandle, AgentCoreSettings } from "./agentcore-options.ts";

const PAGE = 100;

interface Connection {
  readonly sdk: AgentCoreSdk;
  readonly client: BedrockAgentCoreClient;
}

export class AgentCoreProvider implements SandboxProvider {
  readonly name = "agentcore";
  readonly network: NetworkReach;
  readonly workingDirectory: string;
  readonly #settings: AgentCoreSettings;
  #connection: Promise<Connection> | undefined;

  constructor(settings: AgentCoreSettings) {
    this.#settings = settings;
    this.network = settings.network;
    this.workingDirectory = settings.workingDirectory;
  }

  /** The name is made here, so that what was started is found when its answer was lost. */
  async open(request: OpenRequest): Promise<OpenedSandbox> {
    request.signal?.throwIfAborted();
    const connection = await this.#connect();
    const name = `${nameOf(request.key)}${randomBytes(8).toString("hex")}`;
    const sessionId = await createOrUndo({
      create: () => this.#start(connection, name),
      end: (id) => this.destroy(id),
      sweep: async () => {
        for (const id of await this.#named((given) => given === name)) await this.destroy(id);
      },
      timeout: this.#settings.openTimeout,
      signal: request.signal,
    });
    return this.#opened(this.#machineOf(connection, sessionId), request);
  }

  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const { signal } = request;
    const machine = this.#machineOf(await this.#connect(), id);
    const isThere = await agentCoreCall("find the session", () => machine.isThere(signal), signal);
    return isThere ? this.#opened(machine, request) : undefined;
  }

  async destroy(id: string): Promise<void> {
    const { sdk, client } = await this.#connect();
    const input = { codeInterpreterIdentifier: this.#settings.codeInterpreter, sessionId: id };
    await agentCoreCall("end the session", async () => {
      try {
        await client.send(new sdk.StopCodeInterpreterSessionCommand(input));
      } catch (error) {
        const machine = this.#machineOf({ sdk, client }, id);
        if (!isMissing(error) && (await machine.isThere())) throw error;
      }
    });
  }

  find(key: string): Promise<readonly string[]> {
    const isOurs = new RegExp(`^${nameOf(key)}[0-9a-f]{16}$`);
    return this.#named((name) => isOurs.test(name));
  }

  async #named(isWanted: (name: string) => boolean): Promise<readonly string[]> {
    const { sdk, client } = await this.#connect();
    const found: string[] = [];
    let nextToken: string | undefined;
    do {
      const input = {
        codeInterpreterIdentifier: this.#settings.codeInterpreter,
        status: "READY" as const,
        maxResults: PAGE,
        nextToken,
      };
      const page = await agentCoreCall("list sessions", () =>
        client.send(new sdk.ListCodeInterpreterSessionsCommand(input)),
      );
      for (const { name, sessionId, status } of page.items ?? [])
        if (status === "READY" && sessionId !== undefined && isWanted(name ?? "")) found.push(sessionId);
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    return found;
  }

  #start({ sdk, client }: Connection, name: string): Promise<string> {
    const { codeInterpreter, sessionTimeout, create } = this.#settings;
    return agentCoreCall("start a session", async () => {
      const { sessionId } = await client.send(
        new sdk.StartCodeInterpreterSessionCommand({
          ...create,
          codeInterpreterIdentifier: codeInterpreter,
          name,
          sessionTimeoutSeconds: sessionTimeout,
        }),
      );
      if (!sessionId) throw new Error("The answer has no session");
      return sessionId;
    });
  }

  #machineOf({ sdk, client }: Connection, sessionId: string): AgentCoreMachine {
    const { codeInterpreter } = this.#settings;
    return new AgentCoreMachine(sdk, { client, codeInterpreter, sessionId }, this.workingDirectory);
  }

  #opened(machine: AgentCoreMachine, request: OpenRequest): OpenedSandbox {
    const { env, timeout, maxOutputBytes } = this.#settings;
    let ended: Promise<void> | undefined;
    return {
      id: machine.id,
      sandbox: new RemoteSandbox(machine, { env: { ...env, ...request.env }, timeout, maxOutputBytes }),
      detach: async () => undefined,
      destroy: async () => {
        machine.end();
        ended ??= this.destroy(machine.id).catch((error: unknown) => {
          ended = undefined;
          throw error;
        });
        await ended;
      },
    };
  }

  #connect(): Promise<Connection> {
    this.#connection ??= this.#makeClient().catch((error: unknown) => {
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  /** A request that broke is not made again by the SDK: a command may have run. */
  async #makeClient(): Promise<Connection> {
    const { client, region, credentials, endpoint } = this.#settings;
    const sdk = await loadSdk();
    if (client !== undefined) return { sdk, client };
    return {
      sdk,
      client: new sdk.BedrockAgentCoreClient({
        ...(region === undefined ? {} : { region }),
        ...(credentials === undefined ? {} : { credentials }),
        ...(endpoint === undefined ? {} : { endpoint }),
        maxAttempts: 1,
      }),
    };
  }
}

/** One that its owner started and ends: it is used, and left alone. */
export function ownedAgentCoreSandbox(handle: AgentCoreHandle): SandboxProvider {
  const { sandbox, env, timeout, maxOutputBytes, network, workingDirectory } = handle;
  const { sessionId } = sandbox;
  const open = async (request: OpenRequest): Promise<OpenedSandbox> => {
    request.signal?.throwIfAborted();
    const machine = new AgentCoreMachine(await loadSdk(), sandbox, workingDirectory);
    const own = { env: { ...env, ...request.env }, timeout, maxOutputBytes };
    return borrowedSandbox(sessionId, new RemoteSandbox(machine, own));
  };
  return {
    name: "agentcore",
    network,
    workingDirectory,
    lendsPlace: true,
    open,
    reattach: async (id, request) => (id === sessionId ? open(request) : undefined),
  };
}

function loadSdk() {
  return loadVendor("@aws-sdk/client-bedrock-agentcore", () => import("@aws-sdk/client-bedrock-agentcore"));
}

/** There are no labels: names begin with what stands for the key. They have 60 characters. */
function nameOf(key: string): string {
  return `deepwright-${createHash("sha256").update(key).digest("hex").slice(0, 32)}-`;
}
