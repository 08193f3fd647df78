/** How sessions of AgentCore's code interpreter are started, found and ended. */
import type { BedrockAgentCoreClient } from "@aws-sdk/client-bedrock-agentcore";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";
import { CloudProvider, isLeaseName, newLeaseName, ownedSandbox } from "../remote/cloud-provider.ts";
import { loadVendor } from "../remote/vendor.ts";
import { agentCoreCalls, isMissing } from "./agentcore-calls.ts";
import { AgentCoreMachine, type AgentCoreSdk } from "./agentcore-machine.ts";
import type { AgentCoreHandle, AgentCoreSettings } from "./agentcore-options.ts";

const PAGE = 100;

interface Connection {
  readonly sdk: AgentCoreSdk;
  readonly client: BedrockAgentCoreClient;
}

export class AgentCoreProvider extends CloudProvider<Connection, string> {
  readonly name = "agentcore";
  readonly #settings: AgentCoreSettings;

  constructor(settings: AgentCoreSettings) {
    super(settings, settings.network);
    this.#settings = settings;
  }

  /** The name is made here, so that the session is found when the answer was lost. */
  protected override attemptOf({ key }: OpenRequest): string {
    return newLeaseName(key);
  }

  protected async sweep(name: string): Promise<void> {
    for (const id of await this.#named((given) => given === name)) await this.destroy(id);
  }

  protected end(sessionId: string): Promise<void> {
    return this.destroy(sessionId);
  }

  async reattach(id: string, request: OpenRequest): Promise<OpenedSandbox | undefined> {
    const { signal } = request;
    const machine = this.#machineOf(await this.connect(), id);
    const isThere = await agentCoreCalls.call("find the session", () => machine.isThere(signal), signal);
    return isThere ? this.#held(machine, request) : undefined;
  }

  async destroy(id: string): Promise<void> {
    const { sdk, client } = await this.connect();
    const input = { codeInterpreterIdentifier: this.#settings.codeInterpreter, sessionId: id };
    await agentCoreCalls.call("end the session", async () => {
      try {
        await client.send(new sdk.StopCodeInterpreterSessionCommand(input));
      } catch (error) {
        const machine = this.#machineOf({ sdk, client }, id);
        if (!isMissing(error) && (await machine.isThere())) throw error;
      }
    });
  }

  find(key: string): Promise<readonly string[]> {
    return this.#named((name) => isLeaseName(name, key));
  }

  async #named(isWanted: (name: string) => boolean): Promise<readonly string[]> {
    const { sdk, client } = await this.connect();
    const found: string[] = [];
    let nextToken: string | undefined;
    do {
      const input = {
        codeInterpreterIdentifier: this.#settings.codeInterpreter,
        status: "READY" as const,
        maxResults: PAGE,
        nextToken,
      };
      const page = await agentCoreCalls.call("list sessions", () =>
        client.send(new sdk.ListCodeInterpreterSessionsCommand(input)),
      );
      for (const { name, sessionId, status } of page.items ?? [])
        if (status === "READY" && sessionId !== undefined && isWanted(name ?? "")) found.push(sessionId);
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
    return found;
  }

  protected create({ sdk, client }: Connection, _request: OpenRequest, name: string): Promise<string> {
    const { codeInterpreter, sessionTimeout, create } = this.#settings;
    return agentCoreCalls.call("start a session", async () => {
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

  protected opened(connection: Connection, sessionId: string, request: OpenRequest): OpenedSandbox {
    return this.#held(this.#machineOf(connection, sessionId), request);
  }

  #held(machine: AgentCoreMachine, request: OpenRequest): OpenedSandbox {
    return this.hold({ machine, end: () => this.destroy(machine.id) }, request);
  }

  /** A request that broke is not made again by the SDK: a command may have run. */
  protected async makeClient(): Promise<Connection> {
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

export function ownedAgentCoreSandbox(handle: AgentCoreHandle): SandboxProvider {
  const { sandbox, network, workingDirectory } = handle;
  return ownedSandbox(handle, {
    name: "agentcore",
    network,
    id: sandbox.sessionId,
    machine: async () => new AgentCoreMachine(await loadSdk(), sandbox, workingDirectory),
  });
}

function loadSdk() {
  return loadVendor("@aws-sdk/client-bedrock-agentcore", () => import("@aws-sdk/client-bedrock-agentcore"));
}
