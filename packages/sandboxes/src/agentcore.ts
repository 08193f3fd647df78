/** Code interpreter sessions of Amazon Bedrock AgentCore. `@aws-sdk/client-bedrock-agentcore` is loaded when one is opened. */

import {
  type AgentCoreHandleOptions,
  type AgentCoreSandboxOptions,
  agentCoreHandle,
  agentCoreSettings,
} from "./agentcore/agentcore-options.ts";
import { AgentCoreProvider, ownedAgentCoreSandbox } from "./agentcore/agentcore-provider.ts";
import { isHandle } from "./checked-options.ts";
import type { SandboxProvider } from "./provider.ts";

export type {
  AgentCoreCommandOptions,
  AgentCoreHandleOptions,
  AgentCoreSandboxOptions,
  AgentCoreSession,
} from "./agentcore/agentcore-options.ts";

/** Makes no calls yet. A `sandbox` that the caller passes is used, and never stopped. */
export function agentcoreSandbox(
  options: AgentCoreSandboxOptions | AgentCoreHandleOptions | null = {},
): SandboxProvider {
  if (isHandle<AgentCoreHandleOptions>(options)) return ownedAgentCoreSandbox(agentCoreHandle(options));
  return new AgentCoreProvider(agentCoreSettings(options));
}
