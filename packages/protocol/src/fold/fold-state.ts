/** State and messages: snapshots, what nodes wrote, and pieces as models write them. */
import { agentAt, changeAgent, changed, linkSubagent, parentOf, putAgent, tie } from "./agents.ts";
import { putMessage, putPiece, replaceMessages } from "./messages-of-agent.ts";
import { list, type ReadMessage, readMessage, string } from "./read-message.ts";
import type { Screen, ShownInterrupt, ShownMessage, Usage } from "./screen.ts";
import { isRecord, own, share, withField } from "./share.ts";
import { compareFiles, contentsOf, fileOfCall, readTodos, writeFiles } from "./state-of-agent.ts";

/** A snapshot of the whole state. */
export function foldValues(screen: Screen, place: string, data: unknown): Screen {
  if (!isRecord(data)) return screen;
  const { messages, todos, files, __interrupt__: interrupts, ...others } = data;
  const before = own(screen.notes.before, place);
  let next = changeAgent(screen, place, (agent) => ({
    messages: Array.isArray(messages) ? replaceMessages(agent.messages, read(messages)) : agent.messages,
    todos: readTodos(agent.todos, todos),
    files: before ? compareFiles(agent.files, before, files) : agent.files,
  }));
  if (!before) next = withNotes(next, { before: withField(next.notes.before, place, contentsOf(files)) });
  if (place === "" && Object.keys(others).length > 0) next = withValues(next, others);
  return afterMessages(foldInterrupts(next, place, interrupts), place, screen);
}

function withValues(screen: Screen, others: Record<string, unknown>): Screen {
  const values = share(screen.values, others);
  return values === screen.values ? screen : { ...screen, values };
}

function withNotes(screen: Screen, notes: Partial<Screen["notes"]>): Screen {
  return { ...screen, notes: { ...screen.notes, ...notes } };
}

function read(messages: unknown): ReadMessage[] {
  return list(messages).flatMap((message) => readMessage(message) ?? []);
}

/** Node → what it wrote, one or a list. */
export function foldUpdates(screen: Screen, place: string, data: unknown): Screen {
  if (!isRecord(data)) return screen;
  let next = screen;
  for (const [node, written] of Object.entries(data)) {
    if (node === "__interrupt__") {
      next = foldInterrupts(next, place, written);
      continue;
    }
    for (const update of Array.isArray(written) ? written : [written]) {
      if (!isRecord(update)) continue;
      next = changeAgent(next, place, (agent) => ({
        messages: read(asList(update.messages)).reduce((all, one) => putMessage(all, one), agent.messages),
        todos: readTodos(agent.todos, update.todos),
        files: writeFiles(agent.files, update.files),
      }));
    }
  }
  return afterMessages(next, place, screen);
}

function asList(value: unknown): unknown {
  return isRecord(value) ? [value] : value;
}

/** A piece of a message or a whole one, and where it comes from. */
export function foldMessages(screen: Screen, named: string, data: unknown): Screen {
  const [message, metadata] = list(data);
  const one = readMessage(message);
  if (!one) return screen;
  const place = namespaceOf(named, metadata);
  const name = isRecord(metadata) && place !== "" ? string(metadata.lc_agent_name) : undefined;
  let next = changeAgent(screen, place, (agent) => ({
    messages: one.pieces ? putPiece(agent.messages, one) : putMessage(agent.messages, one),
    ...(name === undefined ? {} : { name }),
  }));
  if (one.role === "tool" && one.callId !== undefined) next = tieByResult(next, place, metadata, one.callId);
  return afterMessages(next, place, screen);
}

/** The task that made a message is the last part of where it was made; the agent is what stands before. */
function namespaceOf(named: string, metadata: unknown): string {
  const made = isRecord(metadata)
    ? (string(metadata.langgraph_checkpoint_ns) ?? string(metadata.checkpoint_ns))
    : undefined;
  if (made) return parentOf(made);
  const parts = named === "" ? [] : named.split("|");
  while (parts.length > 0 && !parts.at(-1)?.startsWith("tools:")) parts.pop();
  return parts.join("|");
}

/** The result of a call was made where its subagent worked. */
function tieByResult(screen: Screen, place: string, metadata: unknown, callId: string): Screen {
  const made = isRecord(metadata) ? string(metadata.langgraph_checkpoint_ns) : undefined;
  const subagent = made === undefined ? undefined : own(screen.subagents, made);
  if (made === undefined || !subagent || subagent.callId !== undefined || parentOf(made) !== place)
    return screen;
  return tie(screen, made, callId);
}

/** Message id → where it comes from, before its first piece. */
export function noteMessageNamespaces(screen: Screen, data: unknown): Screen {
  if (!isRecord(data)) return screen;
  let { namespaces } = screen.notes;
  for (const [id, entry] of Object.entries(data))
    if (isRecord(entry)) namespaces = withField(namespaces, id, namespaceOf("", entry.metadata));
  return namespaces === screen.notes.namespaces ? screen : withNotes(screen, { namespaces });
}

/** Messages as far as they have come. */
export function foldWholeMessages(screen: Screen, named: string, data: unknown, streaming: boolean): Screen {
  let next = screen;
  for (const one of read(data)) {
    const place = own(screen.notes.namespaces, one.id) ?? namespaceOf(named, undefined);
    const before = next;
    next = changeAgent(next, place, ({ messages }) => ({
      messages: putMessage(messages, one, streaming && one.role === "assistant"),
    }));
    next = afterMessages(next, place, before);
  }
  return next;
}

/** One list for the thread: an interrupt inside an agent comes with its own namespace and with those around it. */
function foldInterrupts(screen: Screen, place: string, value: unknown): Screen {
  const namespace = place === "" ? [] : place.split("|");
  let interrupts: readonly ShownInterrupt[] = screen.interrupts;
  for (const interrupt of list(value)) {
    if (!isRecord(interrupt)) continue;
    const id = string(interrupt.id) ?? string(interrupt.interrupt_id) ?? `${place}#${interrupts.length}`;
    const inner = list(interrupt.namespace).filter((part) => typeof part === "string");
    const next = {
      id,
      value: interrupt.value,
      namespace: inner.length > namespace.length ? inner : namespace,
    };
    const known = interrupts.findIndex((one) => one.id === id);
    const before = interrupts[known];
    if (!before) interrupts = [...interrupts, next];
    else if (next.namespace.length >= before.namespace.length) {
      const kept = share(before, next);
      if (kept !== before) interrupts = interrupts.with(known, kept);
    }
  }
  return interrupts === screen.interrupts ? screen : { ...screen, interrupts };
}

/** Effects of new messages: usage, files that tools wrote, the agent of each call, finished agents. */
function afterMessages(screen: Screen, place: string, before: Screen): Screen {
  const agent = agentAt(screen, place);
  const old = agentAt(before, place);
  if (agent === old) return screen;
  const fresh = agent.messages.filter((message, index) => message !== old.messages[index]);
  if (fresh.length === 0) return screen;
  const first = before.notes.before === screen.notes.before || old.messages.length > 0;
  let next = countUsage(screen, fresh);
  for (const { calls } of fresh)
    for (const call of calls) {
      if (call.status === "done" && first)
        next = changeAgent(next, place, ({ files }) => ({ files: fileOfCall(files, call.name, call.args) }));
      if (call.subagent !== undefined && (call.status === "done" || call.status === "error"))
        next = endSubagent(next, call.subagent, call.status);
    }
  next = linkSubagent(next, place);
  for (const child of Object.keys(next.subagents))
    if (parentOf(child) === place) next = linkSubagent(next, child);
  return next;
}

function endSubagent(screen: Screen, place: string, status: "done" | "error"): Screen {
  const agent = own(screen.subagents, place);
  return agent ? putAgent(screen, place, changed(agent, { status })) : screen;
}

/** Each message is counted once, with the last that was said of it. */
function countUsage(screen: Screen, messages: readonly ShownMessage[]): Screen {
  let { counted } = screen.notes;
  let { usage } = screen;
  for (const { id, usage: reported } of messages) {
    const before = own(counted, id);
    if (!reported || (before && before.total === reported.total && before.input === reported.input)) continue;
    counted = withField(counted, id, reported);
    usage = add(usage, reported, before);
  }
  return usage === screen.usage ? screen : { ...withNotes(screen, { counted }), usage };
}

function add(sum: Usage, more: Usage, less: Usage = { input: 0, output: 0, total: 0 }): Usage {
  const cached = (sum.cached ?? 0) + (more.cached ?? 0) - (less.cached ?? 0);
  return {
    input: sum.input + more.input - less.input,
    output: sum.output + more.output - less.output,
    total: sum.total + more.total - less.total,
    ...(cached > 0 && { cached }),
  };
}
