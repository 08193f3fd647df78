/** The screen of a session to updates for an editor: pieces of messages, calls, plans. Sends what changed, once. */
import type { PlanEntryStatus, SessionUpdate } from "@agentclientprotocol/sdk";
import {
  emptyScreen,
  type Screen,
  type ShownAgent,
  type ShownCall,
  type ShownMessage,
} from "@deepwright/protocol";
import { isHiddenCall } from "../app/view/call-rows.ts";
import { todoLines } from "../run/output/tool-lines.ts";
import { safeText } from "../terminal/safe-text.ts";
import { callUpdate, textNow } from "./call-update.ts";

interface SentCall {
  readonly id: string;
  /** The update as it was sent. */
  json: string;
  before: string | null | undefined;
  wasOver: boolean;
}

/** A call of the thread that a subagent works on. */
interface Delegated {
  readonly message: string;
  readonly call: string;
}

const PLAN_WIDTH = 200;
const PLAN_STATUS: ReadonlySet<string> = new Set(["pending", "in_progress", "completed"]);

export class ScreenUpdates {
  private shown: Screen = emptyScreen;
  private readonly texts = new Map<string, { text: string; reasoning: string }>();
  private readonly calls = new Map<string, SentCall>();
  private readonly ids = new Set<string>();
  /** By the key of the subagent. */
  private readonly delegated = new Map<string, Delegated>();
  /** Calls of subagents that a person was asked about: they have an update of their own. */
  private readonly asked = new Set<string>();
  /** Terminals of the editor by the command that runs in them, until their call is known. */
  private readonly terminals = new Map<string, string>();
  private readonly terminalOf = new Map<string, string>();

  constructor(
    /** A real path. */
    private readonly directory: string,
    private readonly showsPlans: boolean,
  ) {}

  /** Updates since the last call. `isReplay` also repeats the messages of the person. */
  follow(screen: Screen, isReplay = false): readonly SessionUpdate[] {
    const before = this.shown;
    this.shown = screen;
    const updates = this.messages(screen.main, before.main, isReplay);
    updates.push(...this.subagents(screen, before));
    if (screen.main.todos !== before.main.todos) updates.push(...this.plan(screen.main));
    return updates;
  }

  /** The id of a call for the editor. A call of a subagent gets updates of its own from now on. */
  idOf(messageId: string, callId: string, isOfSubagent: boolean): string {
    if (isOfSubagent) this.asked.add(keyOf(messageId, callId));
    return this.sentCall(messageId, callId).id;
  }

  /** A terminal of the editor runs the command. Its call may not be known yet. */
  noteTerminal(command: string, terminalId: string): readonly SessionUpdate[] {
    this.terminals.set(command, terminalId);
    const message = this.shown.main.messages.at(-1);
    return message?.calls.flatMap((call) => this.call(message.id, call)) ?? [];
  }

  private messages(agent: ShownAgent, before: ShownAgent, isReplay: boolean): SessionUpdate[] {
    return agent.messages.flatMap((message, i) =>
      message === before.messages[i] ? [] : this.message(message, isReplay),
    );
  }

  private message(message: ShownMessage, isReplay: boolean): SessionUpdate[] {
    const { id, role, text, reasoning, calls } = message;
    const sent = this.texts.get(id) ?? { text: "", reasoning: "" };
    this.texts.set(id, { text, reasoning });
    if (role === "user") return isReplay && text !== sent.text ? [chunk("user_message_chunk", id, text)] : [];
    if (role !== "assistant") return [];
    return [
      ...added("agent_thought_chunk", id, sent.reasoning, reasoning),
      ...added("agent_message_chunk", id, sent.text, text),
      ...calls.flatMap((call) => this.call(id, call)),
    ];
  }

  private call(messageId: string, call: ShownCall, agents?: readonly ShownAgent[]): SessionUpdate[] {
    // A call gets its lasting id when it has been written.
    if (isHiddenCall(call) || call.status === "writing") return [];
    if (call.subagent !== undefined) this.delegated.set(call.subagent, { message: messageId, call: call.id });
    const sent = this.sentCall(messageId, call.id);
    if (call.args !== undefined && sent.before === undefined && !isOver(call))
      sent.before = textNow(call, this.directory);
    const team = agents ?? this.teamOf(call);
    const update = callUpdate(call, {
      id: sent.id,
      directory: this.directory,
      before: sent.before,
      terminalId: this.terminalFor(sent, call),
      ...(team.length > 0 && { agents: team }),
    });
    const json = JSON.stringify(update);
    if (json === sent.json) return [];
    const isNew = sent.json === "";
    sent.wasOver = isOver(call);
    sent.json = json;
    return [
      isNew
        ? ({ sessionUpdate: "tool_call", ...update } as SessionUpdate)
        : { sessionUpdate: "tool_call_update", ...update },
    ];
  }

  /** A terminal belongs to the call of its command that is not over and has none. */
  private terminalFor({ id, wasOver }: SentCall, { name, args }: ShownCall): string | undefined {
    const known = this.terminalOf.get(id);
    if (known !== undefined || name !== "execute" || wasOver) return known;
    const command = String((args as { command?: unknown } | undefined)?.command);
    const terminal = this.terminals.get(command);
    if (terminal === undefined) return undefined;
    this.terminals.delete(command);
    this.terminalOf.set(id, terminal);
    return terminal;
  }

  /** The agent that works on a call first, then those below it. */
  private teamOf({ subagent }: ShownCall): readonly ShownAgent[] {
    if (subagent === undefined) return [];
    return Object.entries(this.shown.subagents)
      .filter(([key]) => key === subagent || key.startsWith(`${subagent}|`))
      .sort(([a], [b]) => a.length - b.length)
      .map(([, agent]) => agent);
  }

  private subagents({ main, subagents }: Screen, before: Screen): SessionUpdate[] {
    if (subagents === before.subagents) return [];
    const changed = Object.keys(subagents).filter((key) => subagents[key] !== before.subagents[key]);
    const roots = new Set(
      [...this.delegated.keys()].filter((root) => changed.some((key) => isBelow(key, root))),
    );
    const updates = [...roots].flatMap((root) => {
      const { message: id, call } = this.delegated.get(root) as Delegated;
      const message = main.messages.find((one) => one.id === id);
      const found = message?.calls.find((one) => one.id === call);
      return found ? this.call(id, found) : [];
    });
    return [...updates, ...changed.flatMap((key) => this.askedCalls(subagents[key] as ShownAgent))];
  }

  private askedCalls({ messages }: ShownAgent): SessionUpdate[] {
    if (this.asked.size === 0) return [];
    return messages.flatMap(({ id, calls }) =>
      calls.filter((call) => this.asked.has(keyOf(id, call.id))).flatMap((call) => this.call(id, call, [])),
    );
  }

  /** Providers may name calls alike in several turns; an editor needs different names. */
  private sentCall(messageId: string, callId: string): SentCall {
    const key = keyOf(messageId, callId);
    const known = this.calls.get(key);
    if (known) return known;
    let id = callId;
    for (let i = 2; this.ids.has(id); i++) id = `${callId}-${i}`;
    this.ids.add(id);
    const sent: SentCall = { id, json: "", before: undefined, wasOver: false };
    this.calls.set(key, sent);
    return sent;
  }

  private plan({ todos }: ShownAgent): SessionUpdate[] {
    if (!this.showsPlans) {
      const lines = todoLines(todos, PLAN_WIDTH);
      return lines.length === 0 ? [] : [chunk("agent_message_chunk", undefined, `\n${lines.join("\n")}\n`)];
    }
    const entries = todos.map(({ content, status }) => ({
      content: safeText(content),
      priority: "medium" as const,
      status: PLAN_STATUS.has(status) ? (status as PlanEntryStatus) : "pending",
    }));
    return [{ sessionUpdate: "plan", entries }];
  }
}

function keyOf(messageId: string, callId: string): string {
  return `${messageId}\n${callId}`;
}

function isBelow(key: string, root: string): boolean {
  return key === root || key.startsWith(`${root}|`);
}

function isOver({ status }: ShownCall): boolean {
  return status === "done" || status === "error" || status === "stopped";
}

type Chunk = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

function chunk(kind: Chunk, messageId: string | undefined, text: string): SessionUpdate {
  return {
    sessionUpdate: kind,
    content: { type: "text", text: safeText(text) },
    ...(messageId !== undefined && { messageId }),
  };
}

/** The new end of a text. A text that changed otherwise, as after a retry, is sent again as a whole. */
function added(kind: Chunk, id: string, sent: string, text: string): SessionUpdate[] {
  if (text === sent || text === "") return [];
  return [chunk(kind, id, text.startsWith(sent) ? text.slice(sent.length) : `\n\n${text}`)];
}
