/** The entries of the package for Node and for browsers. */
import * as main from "library";
import * as browser from "library/browser";
import * as node from "library/node";

const NODE_ONLY = [
  "FilesystemBackend",
  "LocalShellBackend",
  "createAgentMemoryMiddleware",
  "createSettings",
  "findProjectRoot",
  "listSkills",
  "parseSkillMetadata",
];
const SHARED =
  `BaseSandbox CompositeBackend ConfigurationError SandboxError StateBackend StoreBackend adaptBackendProtocol
  adaptSandboxProtocol computeSummarizationDefaults createAsyncSubAgentMiddleware createCompletionCallbackMiddleware
  createDeepAgent createFilesystemMiddleware createHarnessProfile createMemoryMiddleware createPatchToolCallsMiddleware
  createSkillsMiddleware createSubAgentMiddleware createSummarizationMiddleware filesValue getHarnessProfile
  isSandboxBackend registerHarnessProfile resolveBackend`.split(/\s+/);

const missing = (entry: object, names: string[]) => names.filter((name) => !(name in entry));

export default async function program() {
  return {
    main: missing(main, [...SHARED, ...NODE_ONLY]),
    node: missing(node, [...SHARED, ...NODE_ONLY]),
    browser: missing(browser, SHARED),
    browserHasDisk: "FilesystemBackend" in browser,
    sameClass: [node.createDeepAgent === main.createDeepAgent, node.SandboxError === main.SandboxError],
  };
}
