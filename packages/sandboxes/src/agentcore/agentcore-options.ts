/** Options of sessions of AgentCore's code interpreter, and their defaults. */
import type {
  BedrockAgentCoreClient,
  BedrockAgentCoreClientConfig,
  StartCodeInterpreterSessionCommandInput,
} from "@aws-sdk/client-bedrock-agentcore";
import { ConfigurationError } from "deepwright";
import {
  COMMAND_KINDS,
  checkSeconds,
  type OptionRules,
  type Present,
  presentOptions,
  VENDOR_HINTS,
} from "../checked-options.ts";
import {
  type CommandOptions,
  DAY,
  directoryIn,
  type HandleSettings,
  handleSettings,
  type Settings,
} from "../remote/vendor-options.ts";

export interface AgentCoreCommandOptions extends CommandOptions {
  /** Default `/tmp/workspace`; it is created when it is missing. */
  readonly workingDirectory?: string | null;
  /** Network that commands can reach, as the owner set it for the interpreter; AWS does not report it. Default `open`. */
  readonly network?: "none" | "open" | null;
}

export interface AgentCoreSandboxOptions extends AgentCoreCommandOptions {
  /** Default: as every AWS client has it, AWS_REGION first. */
  readonly region?: string | null;
  /** Default: as every AWS client finds them. */
  readonly credentials?: BedrockAgentCoreClientConfig["credentials"] | null;
  /** Default: the endpoint of the region. */
  readonly endpoint?: string | null;
  /** A client that is used instead of one made of the above; its owner keeps it. Let it make one attempt a call. */
  readonly client?: BedrockAgentCoreClient | null;
  /** The interpreter's identifier; default AWS's own, `aws.codeinterpreter.v1`. */
  readonly codeInterpreter?: string | null;
  /** Seconds after which AWS ends a session, even while it works: 60 to 28,800; default 3600. */
  readonly sessionTimeout?: number | null;
  /** Seconds the start of a session may take; default 60. */
  readonly openTimeout?: number | null;
  /** Further settings of a session: certificates, file systems. */
  readonly create?: Pick<
    StartCodeInterpreterSessionCommandInput,
    "certificates" | "filesystemConfigurations"
  > | null;
}

/** A session its owner started. */
export interface AgentCoreSession {
  readonly client: BedrockAgentCoreClient;
  readonly sessionId: string;
  /** Default `aws.codeinterpreter.v1`. */
  readonly codeInterpreter?: string | null;
}

/** It is used, and never stopped by us. */
export interface AgentCoreHandleOptions extends AgentCoreCommandOptions {
  readonly sandbox: AgentCoreSession;
}

type Settled = "network" | "codeInterpreter" | "sessionTimeout" | "openTimeout" | "workingDirectory";

export type AgentCoreSettings = Settings<AgentCoreSandboxOptions, Settled>;

export type AgentCoreHandle = Omit<HandleSettings<AgentCoreHandleOptions>, "sandbox"> & {
  readonly sandbox: Required<Present<AgentCoreSession>>;
  readonly network: "none" | "open";
};

const DIRECTORY = "/tmp/workspace";

const RULES: OptionRules<AgentCoreSandboxOptions> = {
  of: "agentcoreSandbox",
  kinds: {
    ...COMMAND_KINDS,
    network: "any",
    region: "text",
    credentials: "any",
    endpoint: "text",
    client: "object",
    codeInterpreter: "text",
    sessionTimeout: "seconds",
    openTimeout: "seconds",
    create: "object",
  },
  hints: {
    ...VENDOR_HINTS,
    egress: 'AWS keeps no list of hosts. `network: "none"` says that your interpreter has none.',
    image: "AgentCore has interpreters instead: `codeInterpreter`.",
    idleTimeout: "AWS ends a session after `sessionTimeout`, whatever it does.",
  },
};

const SESSION_RULES: OptionRules<AgentCoreSession> = {
  of: "The 'sandbox' of agentcoreSandbox",
  within: "sandbox.",
  kinds: { client: "object", sessionId: "text", codeInterpreter: "text" },
};

const CODE_INTERPRETER = "aws.codeinterpreter.v1";
const SHORTEST_SESSION = 60;
const LONGEST_SESSION = 28_800;

export function agentCoreSettings(given: AgentCoreSandboxOptions | null): AgentCoreSettings {
  const options = presentOptions(given, RULES);
  const { sessionTimeout = 3600, openTimeout = 60 } = options;
  checkSeconds("openTimeout", openTimeout, DAY);
  if (!(sessionTimeout >= SHORTEST_SESSION && sessionTimeout <= LONGEST_SESSION))
    throw new ConfigurationError(
      "INVALID_OPTION",
      `sessionTimeout: ${sessionTimeout} is no number of seconds from ${SHORTEST_SESSION} to ${LONGEST_SESSION}.`,
    );
  return {
    ...options,
    openTimeout,
    sessionTimeout: Math.ceil(sessionTimeout),
    codeInterpreter: options.codeInterpreter ?? CODE_INTERPRETER,
    network: agentCoreNetwork(options),
    workingDirectory: directoryIn(options, DIRECTORY),
  };
}

export function agentCoreHandle(given: AgentCoreHandleOptions): AgentCoreHandle {
  const options = handleSettings(given, RULES.of, DIRECTORY, { network: "any" });
  const {
    client,
    sessionId,
    codeInterpreter = CODE_INTERPRETER,
  } = presentOptions(options.sandbox, SESSION_RULES);
  if (client === undefined || !sessionId)
    throw new ConfigurationError("INVALID_OPTION", "sandbox must have a `client` and a `sessionId`.", {
      hint: "The session is what StartCodeInterpreterSession answers; the client is the one that asked.",
    });
  return {
    ...options,
    sandbox: { client, sessionId, codeInterpreter },
    network: agentCoreNetwork(options),
  };
}

function agentCoreNetwork({ network }: AgentCoreCommandOptions): "none" | "open" {
  const reach = network ?? "open";
  if (reach === "none" || reach === "open") return reach;
  throw new ConfigurationError("INVALID_OPTION", 'network: say "none" or "open".', {
    hint: "It is the network mode of the interpreter that decides; this says which it has.",
  });
}
