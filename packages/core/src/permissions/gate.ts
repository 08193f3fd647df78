/** Asks a person about calls of the built-in file tools that a rule of mode `interrupt` is about. */
import type { ToolCall } from "@langchain/core/messages";
import type { BackendProtocol, BackendRuntime } from "../backends/backend.ts";
import { type BackendSource, bindBackend, makeBackend } from "../backends/resolve.ts";
import { StateBackend } from "../backends/state/state.ts";
import { canonicalPath, showPath } from "../paths.ts";
import { deletionMode } from "./guard-delete.ts";
import { Judge } from "./judge.ts";
import type { FilesystemOperation, PermissionMode, Rules } from "./rules.ts";

const OPERATIONS: Readonly<Record<string, FilesystemOperation>> = {
  ls: "read",
  read_file: "read",
  glob: "read",
  grep: "read",
  write_file: "write",
  edit_file: "write",
  delete: "write",
};

/** Searches: an absent path means the directory of relative paths. */
const SEARCHES: ReadonlySet<string> = new Set(["ls", "glob", "grep"]);

interface Scene {
  readonly state?: unknown;
  readonly runtime?: unknown;
}

/** Questions of the loop before it runs a call. */
export interface PermissionGate {
  watches(tool: string): boolean;
  asks(call: ToolCall, scene: Scene): Promise<{ readonly description: string } | undefined>;
  refuses(call: ToolCall, scene: Scene): Promise<string | undefined>;
  places(call: ToolCall, scene: Scene): Promise<readonly string[]>;
}

/** Undefined if no rule asks. `source` is the backend without its guard. */
export function permissionGate(source: BackendSource | undefined, rules: Rules): PermissionGate | undefined {
  const asking = new Set(
    rules.filter(({ mode }) => mode === "interrupt").flatMap(({ operations }) => [...operations]),
  );
  if (asking.size === 0) return undefined;
  const backend = source ?? new StateBackend();
  return {
    watches: (tool) => Object.hasOwn(OPERATIONS, tool) && asking.has(OPERATIONS[tool] as FilesystemOperation),
    asks: async (call, scene) => {
      const found = await judged(backend, rules, call, scene);
      if (found?.mode !== "interrupt") return undefined;
      const { operation, path } = found;
      const args = JSON.stringify(call.args);
      return {
        description: `The agent wants to ${operation} ${showPath(path)}, which needs approval: ${call.name} with ${args}`,
      };
    },
    refuses: async (call, scene) => {
      const found = await judged(backend, rules, call, scene);
      if (found?.mode !== "deny") return undefined;
      return `permission denied for ${found.operation} on ${showPath(found.path)}`;
    },
    places: async (call, scene) => {
      const located = await locate(backend, call, scene);
      if (located === undefined) return [];
      const { inner, path } = located;
      return new Judge(inner, rules, runtimeOf(scene)).names(path, signalOf(scene));
    },
  };
}

interface Judged {
  readonly mode: PermissionMode;
  readonly operation: FilesystemOperation;
  readonly path: string;
}

interface Located {
  readonly operation: FilesystemOperation;
  readonly inner: BackendProtocol;
  readonly path: string;
}

/** Undefined for calls that are not about files, or that will fail for their path. */
async function locate(source: BackendSource, call: ToolCall, scene: Scene): Promise<Located | undefined> {
  const operation = Object.hasOwn(OPERATIONS, call.name) ? OPERATIONS[call.name] : undefined;
  if (operation === undefined) return undefined;
  const runtime = runtimeOf(scene);
  const inner: BackendProtocol = await bindBackend(await makeBackend(source, runtime), runtime);
  const base = inner.workingDirectory ?? "/";
  const given = pathOf(call);
  const { path } = canonicalPath(given ?? base, { base });
  if (path === undefined || (given === undefined && !SEARCHES.has(call.name))) return undefined;
  return { operation, inner, path };
}

async function judged(
  source: BackendSource,
  rules: Rules,
  call: ToolCall,
  scene: Scene,
): Promise<Judged | undefined> {
  const located = await locate(source, call, scene);
  if (located === undefined) return undefined;
  const { operation, inner, path } = located;
  const judge = new Judge(inner, rules, runtimeOf(scene));
  const options = signalOf(scene);
  const mode =
    call.name === "delete"
      ? await deletionMode(judge, inner, path, options)
      : await judge.mode(operation, path, options);
  return { mode, operation, path };
}

/** Tools take either name; `""` for an optional one means absent. */
function pathOf({ name, args }: ToolCall): string | undefined {
  const { file_path, path } = (args ?? {}) as { file_path?: unknown; path?: unknown };
  const [first, second] = SEARCHES.has(name) ? [path, file_path] : [file_path, path];
  const given = first === undefined || first === null || first === "" ? second : first;
  return typeof given === "string" && given !== "" ? given : undefined;
}

function runtimeOf({ state, runtime }: Scene): BackendRuntime {
  const given = (runtime ?? {}) as Partial<BackendRuntime>;
  return {
    state: state ?? given.state ?? {},
    ...(given.store && { store: given.store }),
    context: given.context,
    ...(given.serverInfo && { serverInfo: given.serverInfo }),
    config: given.config ?? given,
  };
}

function signalOf({ runtime }: Scene): { readonly signal?: AbortSignal } {
  const { signal } = (runtime ?? {}) as { signal?: AbortSignal };
  return signal ? { signal } : {};
}
