/** One task for one subagent, from the call to its result. */

import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { withoutApproval } from "../backends/approved-call.ts";
import type { FilesUpdate } from "../backends/backend.ts";
import { enterTree, treeOf, withTree } from "../backends/run-tree.ts";
import type { FilesState } from "../backends/state/files-value.ts";
import { taskFiles } from "../backends/state/pending-files.ts";
import { isRecord } from "../check-options.ts";
import { isResumed, isSeenInside, isTaskConfig, readChannel, type TaskConfig } from "../engine/engine.ts";
import { AgentGraph } from "../loop/graph/agent-graph.ts";
import { withInitialState } from "../loop/task/initial-state.ts";
import { subagentControlOf } from "../loop/task/subagent-control.ts";
import { type FilesBack, filesBack } from "./changed-files.ts";
import { claimFor, type StateBack, type StateValues, stateBack, turnIndex, valuesOf } from "./child-state.ts";
import { resultOf } from "./result.ts";
import { type ChildConfig, type ChildRunnable, graphOf, runChild } from "./run-child.ts";
import type { LocalSubAgent } from "./spec.ts";
import type { Team } from "./team.ts";
import {
  finishedWords,
  MOST_LEVELS,
  noForkOfFork,
  SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY,
  tooDeep,
  unfinishedWords,
  unknownType,
  unreadWords,
} from "./words.ts";

export interface TaskOrder {
  readonly description: string;
  readonly type: string;
}

/** The call of the tool, as the loop around it tells it. */
export interface TaskCall {
  readonly id: string;
  readonly config: TaskConfig;
  readonly state: StateValues;
}

export interface TaskReport {
  readonly text: string;
  readonly failed: boolean;
  /** For the state of the agent, besides the files, which are written already. */
  readonly update: StateValues;
}

/** Throws only errors that end or pause the whole run. */
export async function delegate(team: Team, order: TaskOrder, call: TaskCall): Promise<TaskReport> {
  const member = team.find(order.type);
  const refusal = member === undefined ? unknownType(order.type, team.names) : refusalOf(member, call);
  if (member === undefined || refusal !== undefined) return { text: refusal ?? "", failed: true, update: {} };
  const child = team.runnable(member, call.config.configurable?.[SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY]);
  const errand = await prepare(team, member, child, order, call);
  const working = subagentControlOf(call.config.configurable)?.enter(namespaceOf(call));
  const end = await runChild(child, errand.input, errand.config, {
    seconds: team.seconds,
    stop: working?.stop,
  }).finally(() => working?.leave(undefined));
  const unread = working?.leave(end.state) ?? [];
  const result = resultOf(end, errand.taskId, Object.keys(errand.shared));
  const state = (typeof end.state === "object" && end.state !== null ? end.state : {}) as StateValues;
  const files = await bringFiles(member, errand, state, call);
  const values = bringValues(team, member, errand, state, call);
  const report = {
    name: member.name,
    text: result.text,
    reason: result.reason,
    changedFiles: files.paths,
    notes: [...files.notes, ...values.notes, ...unread.map(({ content }) => unreadWords(content))],
  };
  const text = result.failed ? unfinishedWords(report) : finishedWords(report);
  return { text, failed: result.failed, update: values.update };
}

/** As streams name the subagent: the path of tasks from the outermost graph to this call. */
function namespaceOf({ config }: TaskCall): string {
  return String(config.configurable?.checkpoint_ns ?? "");
}

function refusalOf({ name, mode }: LocalSubAgent, { config }: TaskCall): string | undefined {
  const { agentPath, isFork } = treeOf(config);
  if (agentPath.length >= MOST_LEVELS) return tooDeep(agentPath);
  return mode === "fork" && isFork === true ? noForkOfFork(name) : undefined;
}

interface Errand {
  readonly taskId: string;
  readonly input: StateValues;
  readonly config: ChildConfig;
  /** The custom keys the child was given. */
  readonly shared: StateValues;
  /** The files it was given; undefined when the agent keeps none in its state. */
  readonly files: FilesState | undefined;
}

async function prepare(
  team: Team,
  member: LocalSubAgent,
  child: ChildRunnable,
  order: TaskOrder,
  call: TaskCall,
): Promise<Errand> {
  const isFork = member.mode === "fork";
  const taskId = `task-${call.id}`;
  const messages = [
    ...(isFork ? conversationBefore(call) : []),
    new HumanMessage({ id: taskId, content: order.description }),
  ];
  const files = await filesOf(call);
  const shared = valuesOf(call.state, team.parentState.sharedKeys(call.state));
  const given = { ...shared, ...(files && { files }) };
  const config = configFor(member, call, isFork);
  if (!(child instanceof AgentGraph))
    return { taskId, shared, files, config, input: { messages, ...takenBy(child, given) } };
  const forked = isFork ? valuesOf(call.state, team.parentState.forkedKeys()) : {};
  const handed = withInitialState(config, child.loop, { ...forked, ...given });
  return { taskId, shared, files, config: handed, input: { messages } };
}

function conversationBefore({ id, state }: TaskCall): readonly BaseMessage[] {
  const messages = Array.isArray(state.messages) ? (state.messages as BaseMessage[]) : [];
  const turn = turnIndex(messages, id);
  return turn < 0 ? messages : messages.slice(0, turn);
}

async function filesOf({ config, state }: TaskCall): Promise<FilesState | undefined> {
  if (!isTaskConfig(config)) return state.files as FilesState | undefined;
  if (readChannel(config, "files") === undefined) return undefined;
  return (await taskFiles(config)).record();
}

/** A graph gets only the values that it has channels for. */
function takenBy(child: ChildRunnable, values: StateValues): StateValues {
  const channels = (graphOf(child) as { channels?: object } | undefined)?.channels;
  if (channels === undefined) return values;
  return Object.fromEntries(Object.entries(values).filter(([key]) => Object.hasOwn(channels, key)));
}

/** The child's run is part of this one: saver, store, context, signal and listeners are the same. */
function configFor({ name }: LocalSubAgent, { config }: TaskCall, isFork: boolean): ChildConfig {
  const agentPath = [...treeOf(config).agentPath, name];
  const inside = enterTree(withTree(withoutApproval(config), { agentPath, isFork }));
  const { [SUBAGENT_RESPONSE_FORMAT_CONFIG_KEY]: _, ...configurable } = inside.configurable ?? {};
  const metadata = { ...inside.metadata, lc_agent_name: name };
  const quiet = isSeenInside(config) ? {} : { writer: unheard };
  return {
    ...inside,
    configurable: { ...configurable, ls_agent_type: "subagent" },
    metadata,
    runName: name,
    ...quiet,
  };
}

/** Stream writes of a child are for readers who asked for subgraphs. */
function unheard(): void {}

const NO_FILES: FilesBack = { update: {}, paths: [], notes: [] };

async function bringFiles(
  member: LocalSubAgent,
  { files }: Errand,
  state: StateValues,
  call: TaskCall,
): Promise<FilesBack> {
  const end: unknown = state.files;
  if (
    files === undefined ||
    !isRecord<FilesState>(end) ||
    !mayReturn(member, "files") ||
    !isTaskConfig(call.config)
  )
    return NO_FILES;
  const now = await taskFiles(call.config);
  const start = isResumed(call.config) ? undefined : files;
  const back = filesBack({ now, start, end, callId: call.id });
  if (Object.keys(back.update).length > 0) now.commit(back.update as FilesUpdate);
  return back;
}

function bringValues(
  team: Team,
  member: LocalSubAgent,
  { shared }: Errand,
  state: StateValues,
  call: TaskCall,
): StateBack {
  const messages = Array.isArray(call.state.messages) ? (call.state.messages as BaseMessage[]) : [];
  const turn = messages[turnIndex(messages, call.id)];
  const allowed = Object.fromEntries(Object.entries(state).filter(([key]) => mayReturn(member, key)));
  return stateBack(team.parentState, shared, allowed, claimFor(turn, call.id));
}

function mayReturn({ returns }: LocalSubAgent, key: string): boolean {
  return returns == null || returns.includes(key);
}
