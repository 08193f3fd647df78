/** The files a consolidating agent gets to see: the memory files, and nothing else of the place they are in. */
import type { BackendProtocol } from "../backends/backend.ts";
import { CompositeBackend } from "../backends/composite/composite.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { StateBackend } from "../backends/state/state.ts";
import { PolicyBackend, type PolicyOperation } from "../permissions/policy/policy.ts";

/** Where the harness puts what is too long for the context: in the state of the run, which ends with it. */
const AREAS = ["large_tool_results", "conversation_history"];

/** `onWrite` gets the path of each change that the backend has made. */
export function agentFiles(
  backend: BackendSource,
  memory: readonly string[],
  onWrite: (path: string) => void,
): CompositeBackend {
  const known = typeof backend === "function" ? undefined : (backend as BackendProtocol);
  const directory = known?.workingDirectory ?? "/";
  const root = directory === "/" ? "" : `${directory}/.deepwright`;
  const areas = AREAS.map((area) => [`${root}/${area}/`, new StateBackend()] as const);
  const guarded = new PolicyBackend(backend, {
    check: memoryOnly(known, memory),
    audit: ({ operation, outcome, path }) => {
      if (outcome === "done" && WRITING.has(operation)) onWrite(path);
    },
  });
  return new CompositeBackend(guarded, Object.fromEntries(areas));
}

const READING = new Set<PolicyOperation>(["read", "readRaw", "download", "ls", "grep", "glob"]);
const WRITING = new Set<PolicyOperation>(["write", "edit", "append", "upload"]);

/** A memory file may be a link: what it leads to counts as well. */
function memoryOnly(
  backend: BackendProtocol | undefined,
  memory: readonly string[],
): (operation: PolicyOperation, path: string) => Promise<string | undefined> {
  const allowed = new Set(memory);
  let linked: Promise<void> | undefined;
  return async (operation, path) => {
    linked ??= addReal(backend, allowed);
    await linked;
    if (allowed.has(path) && (READING.has(operation) || WRITING.has(operation))) return undefined;
    return `Error: permission denied for ${READING.has(operation) ? "read" : "write"} on ${path}: only the memory files are yours`;
  };
}

async function addReal(backend: BackendProtocol | undefined, allowed: Set<string>): Promise<void> {
  for (const path of [...allowed]) {
    const real = await backend?.realPath?.(path);
    if (typeof real === "string") allowed.add(real);
  }
}
