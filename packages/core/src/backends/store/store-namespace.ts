/** The part of a store where the files of a run live. */
import type { BaseStore } from "@langchain/langgraph";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import type { BackendRuntime, ServerInfo } from "../backend.ts";

/** Values that a namespace can be made from. */
export interface StoreBackendContext<State = any> {
  readonly state: State;
  readonly store: BaseStore | undefined;
  readonly context: any;
  /** The user who runs the agent. Outside a server it is undefined: a namespace that reads from it is an INVALID_NAMESPACE. */
  readonly serverInfo: ServerInfo & Required<Pick<ServerInfo, "user" | "assistantId">>;
  readonly config?: {
    readonly metadata?: Record<string, unknown>;
    readonly configurable?: Record<string, unknown>;
  };
  /** The same as `serverInfo.assistantId`, where older code looks for it. */
  readonly assistantId?: string;
}

export type StoreBackendNamespaceFactory<State = any> = (
  context: StoreBackendContext<State>,
) => readonly (string | undefined)[];

export type NamespaceSource = readonly string[] | StoreBackendNamespaceFactory;

/** The runtime of older callers carries the assistant itself. */
export type StoreRuntime = BackendRuntime & { readonly assistantId?: string };

const PART = /^[A-Za-z0-9\-_.@+:~]+$/;

/** The namespace of one run; throws rather than let two runs share one by accident. */
export function namespaceFor(source: NamespaceSource | undefined, runtime: StoreRuntime): readonly string[] {
  const context = contextOf(runtime);
  if (source === undefined) return defaultNamespace(context);
  return checked(typeof source === "function" ? made(source, context) : source, DeepwrightError);
}

/** Where no server names an assistant there is one program and one tenant. */
function defaultNamespace({ assistantId, serverInfo }: Partial<StoreBackendContext>): readonly string[] {
  const own = checked(
    assistantId === undefined ? ["filesystem"] : [assistantId, "filesystem"],
    DeepwrightError,
  );
  return serverInfo?.tenant === undefined ? own : [serverInfo.tenant, ...own];
}

/** A list is checked where it is given, a function's answer when it is asked. */
export function checkNamespaceOption(source: unknown): NamespaceSource | undefined {
  if (source === undefined || source === null) return undefined;
  if (typeof source === "function") return source as StoreBackendNamespaceFactory;
  return checked(source, ConfigurationError);
}

/** Stores forbid periods in a part, but identities have them; `%` is in no part that we accept. */
export function storedNamespace(namespace: readonly string[]): string[] {
  return namespace.map((part) => part.replaceAll(".", "%2E"));
}

function made(source: StoreBackendNamespaceFactory, context: StoreBackendContext): unknown {
  try {
    return source(context);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DeepwrightError("INVALID_NAMESPACE", `The namespace of StoreBackend failed: ${reason}.`, {
      cause,
    });
  }
}

function checked(parts: unknown, Failure: typeof DeepwrightError): readonly string[] {
  const refuse = (message: string) => new Failure("INVALID_NAMESPACE", message, { hint: HINT });
  if (!Array.isArray(parts)) throw refuse("The namespace of StoreBackend must be a list of strings.");
  if (parts.length === 0) throw refuse("The namespace of StoreBackend has no parts.");
  parts.forEach((part, index) => {
    if (part === undefined || part === null || part === "")
      throw refuse(`Part ${index + 1} of the namespace of StoreBackend is missing.`);
    if (typeof part !== "string")
      throw refuse(`Part ${index + 1} of the namespace of StoreBackend is not text but ${typeof part}.`);
    if (!PART.test(part))
      throw refuse(
        `Part ${index + 1} of the namespace of StoreBackend has characters other than letters, digits and -_.@+:~.`,
      );
  });
  return parts as string[];
}

const HINT = 'Give a namespace such as ["my-agent", "files"], or a function that always finds one.';

/** The user of the run, if a server names one. */
export function identityOf(config: unknown): string | undefined {
  const { serverInfo, configurable } = recordOf(config) ?? {};
  return (
    textOf((serverInfo as ServerInfo | undefined)?.user?.identity) ?? userIn(recordOf(configurable))?.identity
  );
}

function contextOf(runtime: StoreRuntime): StoreBackendContext {
  const config = recordOf(runtime.config);
  const metadata = recordOf(config?.metadata);
  const configurable = recordOf(config?.configurable);
  const server = (runtime.serverInfo ?? recordOf(config?.serverInfo)) as ServerInfo | undefined;
  const assistantId =
    textOf(server?.assistantId) ??
    assistantIn(metadata) ??
    assistantIn(configurable) ??
    textOf(runtime.assistantId);
  const user = server?.user ?? userIn(configurable);
  const known = assistantId !== undefined || user !== undefined;
  return {
    state: runtime.state,
    store: runtime.store,
    context: runtime.context,
    config: config === undefined ? undefined : { metadata, configurable },
    assistantId,
    ...(known ? { serverInfo: { ...server, assistantId, user } } : {}),
  } as StoreBackendContext;
}

function assistantIn(record: Record<string, unknown> | undefined): string | undefined {
  return textOf(record?.assistant_id) ?? textOf(record?.assistantId);
}

/** The key under which a LangGraph server puts the authenticated user. */
function userIn(configurable: Record<string, unknown> | undefined): ServerInfo["user"] {
  const identity =
    textOf(recordOf(configurable?.langgraph_auth_user)?.identity) ??
    textOf(configurable?.langgraph_auth_user_id);
  return identity === undefined ? undefined : { identity };
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
