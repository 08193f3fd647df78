/**
 * Approvals that hold longer than one call: for a thread in a private channel, for a project in the store.
 *
 * An approval covers exactly one call, never a tool or a pattern: the same agent, tool and arguments. The channel also
 * holds the calls that a person refused, so that no later step can run them.
 */
import { type BaseStore, BinaryOperatorAggregate, type Item } from "@langchain/langgraph";
import type { ServerInfo } from "../../backends/backend.ts";
import { treeOf } from "../../backends/run-tree.ts";
import { identityOf } from "../../backends/store/store-namespace.ts";
import { after } from "../../duration.ts";
import { readChannel, storeBehind, type TaskConfig } from "../../engine/engine.ts";
import { DeepwrightError } from "../../errors.ts";
import type { InputFile } from "./call-inputs.ts";
import type { CallShape } from "./call-shape.ts";

/** Written by the loop alone. Callers, hooks, tools and `updateState` cannot write it. */
export const APPROVALS = "_approvals";

/** The key under which a packet for the approval node carries its findings. No key of a state may have this name. */
export const APPROVAL_PLAN = "__deepwright_approval_plan";

/** One remembered approval. */
export interface RememberedApproval {
  /** Id for `revokeApproval`. */
  readonly id: string;
  readonly tool: string;
  /** The tool and its arguments, for people; long ones are cut. */
  readonly call: string;
  /** The agent that the approval is for; absent: the outermost. */
  readonly agentPath?: readonly string[];
  /** ISO 8601. */
  readonly approvedAt: string;
  /** The user who gave it, on a server that separates its users. It counts for no other user. */
  readonly identity?: string;
}

/** Approvals that a thread remembers. */
export interface ThreadApprovals {
  readonly remembered: readonly RememberedApproval[];
  /** Ids of calls a person rejected or answered. */
  readonly refused: readonly string[];
  /** The files of calls a person decided about, as they were then. */
  readonly shown?: readonly ShownCall[];
}

export interface ShownCall {
  /** The id of the call's shape. */
  readonly call: string;
  readonly files: readonly InputFile[];
}

const NONE: ThreadApprovals = { remembered: [], refused: [] };
/** The oldest are forgotten; a person is asked about their calls again. */
const MOST_REMEMBERED = 500;
const MOST_REFUSED = 2_000;
const MOST_SHOWN = 100;
const MOST_CHARACTERS = 2_000;

export function approvalsChannel(): BinaryOperatorAggregate<ThreadApprovals, Partial<ThreadApprovals>> {
  return new BinaryOperatorAggregate<ThreadApprovals, Partial<ThreadApprovals>>(merged, () => NONE);
}

function merged(known: ThreadApprovals, added: Partial<ThreadApprovals> | undefined): ThreadApprovals {
  const ids = new Set(known.remembered.map(({ id }) => id));
  const fresh = (added?.remembered ?? []).filter(({ id }) => !ids.has(id) && ids.add(id));
  const refused = (added?.refused ?? []).filter((id) => !known.refused.includes(id));
  const shown = added?.shown ?? [];
  if (fresh.length === 0 && refused.length === 0 && shown.length === 0) return known;
  const before = (known.shown ?? []).filter(({ call }) => !shown.some((one) => one.call === call));
  const all = [...before, ...shown].slice(-MOST_SHOWN);
  return {
    remembered: [...known.remembered, ...fresh].slice(-MOST_REMEMBERED),
    refused: [...known.refused, ...refused].slice(-MOST_REFUSED),
    ...(all.length > 0 && { shown: all }),
  };
}

export function rememberedCall(
  { id, text }: CallShape,
  tool: string,
  agentPath: readonly string[],
): RememberedApproval {
  const more = text.length - MOST_CHARACTERS;
  return {
    id,
    tool,
    call: more > 0 ? `${text.slice(0, MOST_CHARACTERS)}… (${more} characters more)` : text,
    ...(agentPath.length > 0 ? { agentPath } : {}),
    approvedAt: new Date().toISOString(),
  };
}

const SHARED = "__deepwright_approvals";

/** Approvals that the runs inside a call share with their thread. */
interface SharedApprovals {
  readonly remembered: readonly RememberedApproval[];
  readonly added: Map<string, RememberedApproval>;
  /** None of it counts: an agent around them asks about each call. */
  readonly everyTime: boolean;
}

function sharedWith(config: TaskConfig): SharedApprovals | undefined {
  return config.configurable?.[SHARED] as SharedApprovals | undefined;
}

/**
 * Approvals remembered for this thread, including those of enclosing runs. Enclosing runs learn the ones they lack.
 */
export function threadApprovals(config: TaskConfig): ThreadApprovals {
  const own = (readChannel(config, APPROVALS) as ThreadApprovals | undefined) ?? NONE;
  const shared = sharedWith(config);
  if (shared === undefined) return own;
  shareApprovals(config, own.remembered);
  return { ...own, remembered: [...shared.remembered, ...own.remembered] };
}

/** Whether an agent around this run asks about each call. */
export function isInsideEveryTime(config: TaskConfig): boolean {
  return sharedWith(config)?.everyTime === true;
}

/**
 * The config of a call that collects the approvals of the runs inside it in `added`, to be written afterwards. With
 * `everyTime` these runs ask about each call.
 */
export function sharingApprovals(
  config: TaskConfig,
  everyTime = false,
): {
  readonly config: TaskConfig;
  added(): readonly RememberedApproval[];
} {
  const { remembered } = threadApprovals(config);
  const isEveryTime = everyTime || isInsideEveryTime(config);
  const shared: SharedApprovals = { remembered, added: new Map(), everyTime: isEveryTime };
  const known = new Set(remembered.map(({ id }) => id));
  return {
    config: { ...config, configurable: { ...config.configurable, [SHARED]: shared } },
    added: () => {
      const added = [...shared.added.values()].filter(({ id }) => !known.has(id));
      shareApprovals(config, added);
      return added;
    },
  };
}

/** Adds approvals to the threads of enclosing runs. */
export function shareApprovals(config: TaskConfig, added: readonly RememberedApproval[]): void {
  const shared = sharedWith(config);
  for (const approval of added) shared?.added.set(approval.id, approval);
}

/** Whether a person has agreed to this call for longer than once. */
export async function isRemembered({ id }: CallShape, config: TaskConfig): Promise<boolean> {
  if (threadApprovals(config).remembered.some((approval) => approval.id === id)) return true;
  const store = storeOf(config);
  if (store === undefined) return false;
  const place = approvalNamespace(projectOf(config), identityOf(config));
  const found = await inTime(() => store.get(place, id), config.signal);
  return (found?.answer?.value as RememberedApproval | undefined)?.id === id;
}

/** The time the store has for one answer. */
const STORE_LIMIT_MS = 5_000;

/** Undefined when the store fails or does not answer in time: then the person is asked. A run that was stopped stops. */
async function inTime<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<{ readonly answer: Answer } | undefined> {
  let stop = (): void => {};
  const silence = new Promise<undefined>((resolve) => {
    stop = after(STORE_LIMIT_MS, () => resolve(undefined));
  });
  const asked = Promise.resolve()
    .then(ask)
    .then(
      (answer) => ({ answer }),
      () => undefined,
    );
  const result = await Promise.race([asked, silence]).finally(stop);
  signal?.throwIfAborted();
  return result;
}

export function storeOf(config: TaskConfig): BaseStore | undefined {
  return config.store && storeBehind(config.store);
}

/**
 * Stores the approval for all threads of the run's project; on a server only for the user of the run. False: it could
 * not be stored.
 */
export async function rememberAlways(config: TaskConfig, approval: RememberedApproval): Promise<boolean> {
  const identity = identityOf(config);
  const kept = { ...approval, ...(identity !== undefined && { identity }) };
  const [store, place] = [storeOf(config), approvalNamespace(projectOf(config), identity)];
  if (store === undefined) return false;
  return (await inTime(() => store.put(place, approval.id, kept, false), config.signal)) !== undefined;
}

const DEFAULT_PROJECT = "default";

/** `configurable.project`, else the assistant a server names, else `"default"`. */
export function projectOf(config: TaskConfig): string {
  const { configurable = {}, metadata = {} } = config;
  const { serverInfo } = config as { serverInfo?: ServerInfo };
  const assistants = [serverInfo?.assistantId, metadata.assistant_id, configurable.assistant_id];
  const candidates = [configurable.project, ...assistants];
  const named = candidates.find((name) => typeof name === "string" && name !== "");
  return (named as string | undefined) ?? DEFAULT_PROJECT;
}

/** The agent a task belongs to, for the shape of its calls. */
export function agentPathOf(config: TaskConfig): readonly string[] {
  return treeOf(config).agentPath;
}

function approvalNamespace(project: string, identity?: string): string[] {
  if (typeof project !== "string" || project === "")
    throw new DeepwrightError("INVALID_NAMESPACE", "The project of remembered approvals must be a name.");
  return ["approvals", label(project), ...(identity === undefined ? [] : [label(identity)])];
}

/** Stores forbid periods in a part of a namespace, some of them stars. */
function label(name: string): string {
  return encodeURIComponent(name.toWellFormed()).replaceAll(".", "%2E").replaceAll("*", "%2A");
}

const PAGE = 100;

/** Approvals of a project; with `identity` only of this user. */
async function approvalsIn(store: BaseStore, project: string, identity?: string): Promise<Item[]> {
  const found: Item[] = [];
  const place = approvalNamespace(project, identity);
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.search(place, { limit: PAGE, offset });
    // Some stores also return namespaces that only start with the same text.
    found.push(...page.filter((item) => place.every((part, index) => item.namespace[index] === part)));
    if (page.length < PAGE) return found;
  }
}

/** The approvals given with `remember: "always"` in a project, oldest first: of one user, or of all. */
export async function listApprovals(
  store: BaseStore,
  project: string = DEFAULT_PROJECT,
  identity?: string,
): Promise<readonly RememberedApproval[]> {
  const found = (await approvalsIn(store, project, identity)).map((item) => item.value as RememberedApproval);
  return found.sort((one, other) => (one.approvedAt < other.approvedAt ? -1 : 1));
}

/** Removes the approval of one user, or of all, so that such calls are asked about again. False: there was none. */
export async function revokeApproval(
  store: BaseStore,
  project: string,
  id: string,
  identity?: string,
): Promise<boolean> {
  const given = (await approvalsIn(store, project, identity)).filter(({ key }) => key === id);
  for (const { namespace, key } of given) await store.delete(namespace, key);
  return given.length > 0;
}
