/** Reports of tools while they work, and the task that works on each call. */
import { changeAgent, linkSubagent } from "./agents.ts";
import { changeCall } from "./messages-of-agent.ts";
import { string } from "./read-message.ts";
import type { Screen } from "./screen.ts";
import { isRecord, withField } from "./share.ts";

const MOST_CUSTOM = 50;
/** The report of a command's output so far. */
const TOOL_OUTPUT = "tool-output";

export function foldCustom(screen: Screen, place: string, data: unknown): Screen {
  const reported = isRecord(data) && data.type === TOOL_OUTPUT ? string(data.toolCallId) : undefined;
  if (isRecord(data) && reported !== undefined)
    return changeAgent(screen, place, ({ messages }) => ({
      messages: changeCall(messages, reported, { progress: { output: data.output } }),
    }));
  return changeAgent(screen, place, ({ custom }) => ({ custom: [...custom, data].slice(-MOST_CUSTOM) }));
}

/** Reports of the mode `tools`. Results come with their message. */
export function foldToolEvent(screen: Screen, place: string, data: unknown): Screen {
  const callId = isRecord(data) ? string(data.toolCallId) : undefined;
  if (!isRecord(data) || callId === undefined) return screen;
  if (data.event === "on_tool_event")
    return changeAgent(screen, place, ({ messages }) => ({
      messages: changeCall(messages, callId, { progress: data.data }),
    }));
  if (data.event === "on_tool_error")
    return changeAgent(screen, place, ({ messages }) => ({
      messages: changeCall(messages, callId, { status: "error" }),
    }));
  return screen;
}

/** A task that begins with a call: agents in its namespace work on that call. */
export function foldTask(screen: Screen, place: string, data: unknown): Screen {
  if (!isRecord(data) || !isRecord(data.input)) return screen;
  const [task, name] = [string(data.id), string(data.name)];
  const call = string(data.input.id) ?? callIn(data.input.lg_tool_call ?? data.input.tool_call);
  if (name !== "tools" || task === undefined || call === undefined) return screen;
  const tasks = withField(screen.notes.tasks, task, call);
  if (tasks === screen.notes.tasks) return screen;
  const noted = { ...screen, notes: { ...screen.notes, tasks } };
  return linkSubagent(noted, place === "" ? `${name}:${task}` : `${place}|${name}:${task}`);
}

function callIn(value: unknown): string | undefined {
  return isRecord(value) ? string(value.id) : undefined;
}
