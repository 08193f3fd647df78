/** Code interpreter sessions of Amazon Bedrock AgentCore. `@aws-sdk/client-bedrock-agentcore` is loaded when one is opened. */
import {
  type AgentCoreHandleOptions,
  type AgentCoreSandboxOptions,
  agentCoreSettings,
} from "./agentcore/agentcore-options.ts";
import { AgentCoreProvider, ownedAgentCoreSandbox } from "./agentcore/agentcore-provider.ts";
import type { SandboxProvider } from "./provider.ts";

export type {
  AgentCoreCommandOptions,
  AgentCoreHandleOptions,
  AgentCoreSandboxOptions,
  AgentCoreSession,
} from "./agentcore/agentcore-options.ts";

/** Constructs nothing and reaches nobody. A `sandbox` that is handed over is used, and never stopped. */
export function agentcoreSandbox(
  options: AgentCoreSandboxOptions | AgentCoreHandleOptions = {},
): SandboxProvider {
  if ("sandbox" in options && options.sandbox !== undefined) return ownedAgentCoreSandbox(options);
  return new AgentCoreProvider(agentCoreSettings(options as AgentCoreSandboxOptions));
}
