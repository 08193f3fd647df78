/** The nodes of the loop: the function of each, and the effect of `updateState(…, asNode)` in its name. */
import { START } from "@langchain/langgraph";
import type { AgentMiddleware } from "langchain";
import { runNode, sendWrites, type TaskConfig, type Write } from "../../engine/engine.ts";
import { runApproval } from "../approval/approval.ts";
import { type CallPacket, routePending, routeTurn } from "../approval/turn.ts";
import { runToolTask } from "../calls/tool-task.ts";
import {
  APPROVAL_NODE,
  asksPeople,
  entryNode,
  exitNode,
  goTo,
  type HookGroup,
  type Loop,
  MODEL_NODE,
  TOOLS_NODE,
  turnNode,
} from "../contract/loop.ts";
import { nextAfterHooks, runHookGroup } from "../hooks/hooks.ts";
import { overwritten } from "../messages/overwrite.ts";
import { trustedWrites } from "../messages/untrusted-marks.ts";
import { runModelNode } from "../model/model-node.ts";
import { StateDraft } from "../task/state-draft.ts";
import { commandParts, isAnyCommand, updateWrites } from "../task/updates.ts";
import { runStart } from "./start-node.ts";

export interface LoopNode {
  readonly name: string;
  /** Where it may lead, for drawings. */
  readonly ends: readonly string[];
  readonly run: (input: unknown, config: TaskConfig) => Promise<unknown>;
  /** The writes of an update made in this node's name, routes included. */
  readonly update: (values: unknown, config: TaskConfig) => Promise<void>;
}

export function loopNodes(loop: Loop): readonly LoopNode[] {
  const { beforeAgent, beforeModel, afterModel, afterAgent } = loop.hooks;
  const groups = [...beforeAgent, ...beforeModel, ...afterModel, ...afterAgent];
  return [
    ...groups.map((group) => hookNode(loop, group)),
    modelNode(loop),
    ...(asksPeople(loop) ? [approvalNode(loop)] : []),
    toolsNode(loop),
  ];
}

/** The engine's own first node, with our way of taking input. It is never traced. */
export function startNode(loop: Loop): LoopNode {
  return {
    name: START,
    ends: [entryNode(loop)],
    run: (input, config) => runStart(loop, input, config),
    update: updater(loop, () => goTo(entryNode(loop))),
  };
}

function modelNode(loop: Loop): LoopNode {
  const after = loop.hooks.afterModel[0];
  return {
    name: MODEL_NODE,
    ends: after ? [after.node] : turnEnds(loop),
    run: (input, config) => runNode(MODEL_NODE, input, config, (child) => runModelNode(loop, child)),
    update: updater(loop, (draft) => (after ? goTo(after.node) : routeDraft(loop, draft))),
  };
}

function turnEnds(loop: Loop): string[] {
  return [TOOLS_NODE, ...(asksPeople(loop) ? [APPROVAL_NODE] : []), turnNode(loop), exitNode(loop)];
}

function approvalNode(loop: Loop): LoopNode {
  return {
    name: APPROVAL_NODE,
    ends: [TOOLS_NODE],
    run: (input, config) => runNode(APPROVAL_NODE, input, config, (child) => runApproval(loop, input, child)),
    // An update is not a decision: a person is asked about unanswered calls again.
    update: updater(loop, (draft) => routePending(loop, draft.messages())),
  };
}

function toolsNode(loop: Loop): LoopNode {
  const returns = [...loop.clientTools.values()].some(
    (tool) => (tool as { returnDirect?: boolean }).returnDirect,
  );
  return {
    name: TOOLS_NODE,
    ends: returns ? [turnNode(loop), exitNode(loop)] : [turnNode(loop)],
    run: (input, config) =>
      runNode(TOOLS_NODE, input, config, (child) => runToolTask(loop, input as CallPacket, child)),
    update: updater(loop, () => goTo(turnNode(loop))),
  };
}

function hookNode(loop: Loop, group: HookGroup): LoopNode {
  return {
    name: group.node,
    ends: hookEnds(loop, group),
    run: (input, config) => runNode(group.node, input, config, (child) => runHookGroup(loop, group, child)),
    update: updater(loop, (draft) => nextAfterHooks(loop, group, draft)),
  };
}

function hookEnds(loop: Loop, group: HookGroup): string[] {
  const groups = loop.hooks[group.phase];
  const following = groups[groups.indexOf(group) + 1];
  if (following) return [following.node];
  if (group.phase === "beforeAgent") return [turnNode(loop)];
  if (group.phase === "beforeModel") return [MODEL_NODE, exitNode(loop)];
  if (group.phase === "afterModel") return turnEnds(loop);
  return group.middleware.some(mayGoOn) ? [turnNode(loop)] : [];
}

/** A hook at the end of a run that may send the model back to work. */
function mayGoOn({ afterAgent }: AgentMiddleware): boolean {
  return typeof afterAgent === "object" && afterAgent.canJumpTo?.includes("model") === true;
}

function routeDraft(loop: Loop, draft: StateDraft): Write[] {
  return routeTurn(loop, draft.messages(), draft.read("structuredResponse"));
}

function updater(loop: Loop, route: (draft: StateDraft) => Write[]): LoopNode["update"] {
  return async (values, config) => {
    const draft = new StateDraft(loop, config);
    draft.apply(trustedWrites(await valuesToWrites(loop, values), draft.messages()));
    sendWrites(config, [...draft.writes, ...route(draft)]);
  };
}

async function valuesToWrites(loop: Loop, values: unknown): Promise<Write[]> {
  if (isAnyCommand(values)) return commandParts(loop, values).writes;
  if (typeof values !== "object" || values === null) return [];
  const entries = Object.entries(values);
  const plain = Object.fromEntries(entries.filter(([, value]) => overwritten(value) === undefined));
  const whole = Object.fromEntries(entries.filter(([, value]) => overwritten(value) !== undefined));
  return updateWrites(loop, { ...(await loop.state.validate(plain)), ...whole });
}
