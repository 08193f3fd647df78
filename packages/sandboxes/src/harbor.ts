/** A sandbox from any function that runs a command and returns its result. */
import { randomBytes } from "node:crypto";
import { ConfigurationError, type ExecuteOptions, type ExecuteResponse } from "deepwright";
import { borrowedSandbox } from "./borrowed-sandbox.ts";
import {
  COMMAND_KINDS,
  checkDirectory,
  type OptionRules,
  presentOptions,
  sameHint,
} from "./checked-options.ts";
import { withoutTtyNoise } from "./docker/tty-noise.ts";
import { type HarborEnvironment, harborMachine } from "./harbor/harbor-machine.ts";
import type { NetworkReach, OpenedSandbox, OpenRequest, SandboxProvider } from "./provider.ts";
import { RemoteSandbox, type RemoteSandboxOptions } from "./remote/remote-sandbox.ts";

export type { HarborEnvironment, HarborExecOptions, HarborResult } from "./harbor/harbor-machine.ts";

/** null means absent. */
export interface HarborSandboxOptions extends RemoteSandboxOptions {
  /** Made and ended by its owner; never by us. */
  readonly environment: HarborEnvironment;
  /** Absolute; made when it is not there. Where commands start; default `/workspace`. */
  readonly workingDirectory?: string | null;
  /** Network that commands can reach, as far as the owner knows; default `open`. */
  readonly network?: NetworkReach | null;
}

const RULES: OptionRules<HarborSandboxOptions> = {
  of: "harborSandbox",
  kinds: {
    environment: "object",
    ...COMMAND_KINDS,
    network: "any",
    fileTimeout: "seconds",
    ignoreFiles: "boolean",
  },
  hints: {
    egress:
      "What commands may reach is for the owner of the environment to see to; `network` says what that is.",
    ...sameHint(["rootDir", "workspace", "image"], "The environment is made by its owner."),
  },
};

/** Can be used as a backend at once, or leased as a provider: both are the one environment. */
export function harborSandbox(given: HarborSandboxOptions): HarborSandbox {
  const options = presentOptions(given, RULES);
  const { environment, network = "open" } = options;
  if (typeof environment?.exec !== "function")
    throw new ConfigurationError("INVALID_OPTION", "harborSandbox needs an environment that has `exec`.");
  if (!["none", "allow-list", "open"].includes(network))
    throw new ConfigurationError("INVALID_OPTION", 'network: say "none", "allow-list" or "open".');
  const workingDirectory = checkDirectory(options.workingDirectory ?? "/workspace");
  const id = environment.id || `harbor-${randomBytes(6).toString("hex")}`;
  return new HarborSandbox(id, { ...options, network, workingDirectory });
}

/** A sandbox and its provider in one: a lease leaves the environment as it is. */
export class HarborSandbox extends RemoteSandbox implements SandboxProvider {
  readonly name = "harbor";
  readonly isBorrowed = true;
  readonly network: NetworkReach;
  readonly #options: HarborSandboxOptions & { readonly workingDirectory: string };

  constructor(id: string, options: HarborSandboxOptions & { readonly workingDirectory: string }) {
    super(harborMachine(id, options.environment, options.workingDirectory), options);
    this.network = options.network ?? "open";
    this.#options = options;
  }

  override async execute(command: string, options?: ExecuteOptions): Promise<ExecuteResponse> {
    const response = await super.execute(command, options);
    return { ...response, output: withoutTtyNoise(response.output) };
  }

  async open(request: OpenRequest): Promise<OpenedSandbox> {
    request.signal?.throwIfAborted();
    const env = { ...this.#options.env, ...request.env };
    const sandbox = new HarborSandbox(this.id, { ...this.#options, env });
    return borrowedSandbox(this.id, sandbox);
  }

  /** The environment is there for as long as its owner lets it. */
  async reattach(_: string, request: OpenRequest): Promise<OpenedSandbox> {
    return this.open(request);
  }
}
