/** What a user says about sessions of AgentCore's code interpreter, and what is said by nobody. */
import type {
  BedrockAgentCoreClient,
  BedrockAgentCoreClientConfig,
  StartCodeInterpreterSessionCommandInput,
} from "@aws-sdk/client-bedrock-agentcore";
import { ConfigurationError } from "deepwright";
import { checkDirectory, checkSeconds } from "../remote/checked-options.ts";

export interface AgentCoreCommandOptions {
  /** Where commands start, and relative paths lie; made when it is not there. Default `/tmp/workspace`. */
  readonly workingDirectory?: string;
  /** Variables every command sees. */
  readonly env?: Readonly<Record<string, string>>;
  /** Seconds a command may take when the call names none; default 120. */
  readonly timeout?: number;
  /** Bytes of output kept, half from its beginning, half from its end; default 100,000. */
  readonly maxOutputBytes?: number;
  /** What commands can reach, by the network mode its owner gave the interpreter: AWS does not tell. Default `open`. */
  readonly network?: "none" | "open";
}

export interface AgentCoreSandboxOptions extends AgentCoreCommandOptions {
  /** Default: as every AWS client has it, AWS_REGION first. */
  readonly region?: string;
  /** Default: as every AWS client finds them. */
  readonly credentials?: BedrockAgentCoreClientConfig["credentials"];
  /** Default: that of the region. */
  readonly endpoint?: string;
  /** A client that is used instead of one made of the above; its owner keeps it. Let it make one attempt a call. */
  readonly client?: BedrockAgentCoreClient;
  /** The interpreter's identifier; default AWS's own, `aws.codeinterpreter.v1`. */
  readonly codeInterpreter?: string;
  /** Seconds after which AWS ends a session whatever it does: 60 to 28,800; default 3600. */
  readonly sessionTimeout?: number;
  /** Seconds the start of a session may take; default 60. */
  readonly openTimeout?: number;
  /** What else a session takes: certificates, file systems. */
  readonly create?: Pick<
    StartCodeInterpreterSessionCommandInput,
    "certificates" | "filesystemConfigurations"
  >;
}

/** A session its owner started. */
export interface AgentCoreSession {
  readonly client: BedrockAgentCoreClient;
  readonly sessionId: string;
  /** Default `aws.codeinterpreter.v1`. */
  readonly codeInterpreter?: string;
}

/** It is used, and never stopped by us. */
export interface AgentCoreHandleOptions extends AgentCoreCommandOptions {
  readonly sandbox: AgentCoreSession;
}

type Settled = "network" | "codeInterpreter" | "sessionTimeout" | "openTimeout" | "workingDirectory";

export type AgentCoreSettings = Omit<AgentCoreSandboxOptions, Settled> &
  Required<Pick<AgentCoreSandboxOptions, Settled>>;

export const CODE_INTERPRETER = "aws.codeinterpreter.v1";
const SHORTEST_SESSION = 60;
const LONGEST_SESSION = 28_800;

export function agentCoreSettings(options: AgentCoreSandboxOptions): AgentCoreSettings {
  const { sessionTimeout = 3600, openTimeout = 60 } = options;
  checkSeconds("openTimeout", openTimeout, 86_400);
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
    workingDirectory: agentCoreDirectory(options),
  };
}

export function agentCoreNetwork({ network = "open" }: AgentCoreCommandOptions): "none" | "open" {
  if (network === "none" || network === "open") return network;
  throw new ConfigurationError("INVALID_OPTION", 'network: say "none" or "open".', {
    hint: "It is the network mode of the interpreter that decides; this says which it has.",
  });
}

export function agentCoreDirectory({ workingDirectory }: AgentCoreCommandOptions): string {
  return checkDirectory(workingDirectory ?? "/tmp/workspace");
}
