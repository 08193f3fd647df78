/** Every value of the package, and the constants among them. */
import * as library from "library";
import {
  ASYNC_TASK_SYSTEM_PROMPT,
  BASE_AGENT_PROMPT,
  DEFAULT_GENERAL_PURPOSE_DESCRIPTION,
  DEFAULT_SUBAGENT_PROMPT,
  EXECUTION_SYSTEM_PROMPT,
  GENERAL_PURPOSE_SUBAGENT,
  SandboxError,
  SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY,
  TASK_SYSTEM_PROMPT,
} from "library";

const NAMES =
  `BaseSandbox CompositeBackend ConfigurationError ContextHubBackend EMPTY_HARNESS_PROFILE FilesystemBackend
  LangSmithSandbox LocalShellBackend SandboxError StateBackend StoreBackend adaptBackendProtocol adaptSandboxProtocol
  applyGrepMaxCount computeSummarizationDefaults createAgentMemoryMiddleware createAsyncSubAgentMiddleware
  createCompletionCallbackMiddleware createDeepAgent createFilesystemMiddleware createHarnessProfile
  createMemoryMiddleware createPatchToolCallsMiddleware createSettings createSkillsMiddleware createSubAgent
  createSubAgentMiddleware createSummarizationMiddleware filesValue findProjectRoot
  generalPurposeSubagentConfigSchema getHarnessProfile harnessProfileConfigSchema isAsyncSubAgent isSandboxBackend
  isSandboxProtocol listSkills normalizeReadPagination parseHarnessProfileConfig parseSkillMetadata
  registerHarnessProfile resolveBackend serializeProfile skillsMetadataValue`.split(/\s+/);

class RentedError extends SandboxError {
  constructor(message: string) {
    super(message, "RENT_DUE");
  }
}

export default async function program() {
  const all = library as Record<string, unknown>;
  const prompts = {
    ASYNC_TASK_SYSTEM_PROMPT,
    BASE_AGENT_PROMPT,
    EXECUTION_SYSTEM_PROMPT,
    TASK_SYSTEM_PROMPT,
  };
  const cause = new Error("below");
  const sandbox = new SandboxError("gone", "COMMAND_FAILED", cause);
  const rented = new RentedError("pay");
  return {
    types: Object.fromEntries(NAMES.map((name) => [name, typeof all[name]])),
    prompts: Object.entries(prompts).map(([name, text]) => [name, typeof text]),
    defaults: [DEFAULT_GENERAL_PURPOSE_DESCRIPTION, DEFAULT_SUBAGENT_PROMPT].map((text) => text.length > 20),
    generalPurpose: [GENERAL_PURPOSE_SUBAGENT.name, GENERAL_PURPOSE_SUBAGENT.mode],
    key: SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY,
    sandbox: [sandbox.name, sandbox.code, sandbox.cause === cause, SandboxError.isInstance(sandbox)],
    rented: [rented.code, rented instanceof SandboxError, SandboxError.isInstance(rented)],
  };
}
