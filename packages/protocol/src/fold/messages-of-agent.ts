/** The messages of one agent: pieces joined by id, results put to their calls. */
import type { ReadCall, ReadCallPiece, ReadMessage } from "./read-message.ts";
import type { CallStatus, ShownCall, ShownMessage } from "./screen.ts";
import { share } from "./share.ts";

type Messages = readonly ShownMessage[];

function indexOf(messages: Messages, id: string): number {
  return messages.findLastIndex((message) => message.id === id);
}

/**
 * The id under which a streamed message is shown. Some servers give every message the same id: what comes after a later
 * message of the user is another message.
 */
function shownId(messages: Messages, id: string): string {
  const known = indexOf(messages, id);
  const asked = messages.findLastIndex(({ role }) => role === "user");
  if (known === -1 || known > asked || messages[known]?.streaming) return id;
  const begun = messages.findLast((message) => message.streaming && message.id.startsWith(`${id}@`));
  if (begun) return begun.id;
  return `${id}@${messages[asked]?.id}`;
}

/** The same message as a whole: the agent gives it another id where the thread has its id already. */
function isWhole(last: ShownMessage | undefined, { role, text, calls }: ReadMessage): boolean {
  if (role !== "assistant" || !last?.id.includes("@") || last.text !== text) return false;
  return last.streaming || last.calls.map(({ id }) => id).join() === calls.map(({ id }) => id).join();
}

function replaced(messages: Messages, index: number, next: ShownMessage): Messages {
  const kept = share(messages[index], next);
  return kept === messages[index] ? messages : messages.with(index, kept);
}

/** A message as a whole, or as far as it has come. It replaces the message with its id. */
export function putMessage(messages: Messages, read: ReadMessage, streaming = false): Messages {
  if (read.role === "remove")
    return read.id === "__remove_all__" ? [] : messages.filter(({ id }) => id !== read.id);
  if (read.role === "tool") return putResult(messages, read);
  const last = messages.at(-1);
  const id = isWhole(last, read) ? (last?.id ?? read.id) : read.id;
  const index = indexOf(messages, id);
  const before = messages[index];
  if (before && streaming && !before.streaming) return messages;
  const next = { ...shown(read, read.role, before, streaming), id };
  return index === -1 ? [...messages, next] : replaced(messages, index, next);
}

function shown(
  read: ReadMessage,
  role: ShownMessage["role"],
  before: ShownMessage | undefined,
  streaming: boolean,
): ShownMessage {
  return {
    id: read.id,
    role,
    text: read.text,
    reasoning: read.reasoning,
    media: read.media,
    calls: read.calls.map((call) => shownCall(call, before, streaming)),
    streaming,
    ...(read.name === undefined ? {} : { name: read.name }),
    ...(read.usage === undefined ? {} : { usage: read.usage }),
    ...(read.model === undefined ? {} : { model: read.model }),
  };
}

function shownCall(
  { id, name, args }: ReadCall,
  before: ShownMessage | undefined,
  streaming: boolean,
): ShownCall {
  const known = before?.calls.find((call) => call.id === id);
  const status = known === undefined || known.status === "writing" ? undefined : known.status;
  return {
    id,
    name,
    args,
    argsText: "",
    status: status ?? (streaming ? "writing" : "running"),
    ...(known?.result === undefined ? {} : { result: known.result }),
    ...(known?.progress === undefined ? {} : { progress: known.progress }),
    ...(known?.subagent === undefined ? {} : { subagent: known.subagent }),
  };
}

/** The result goes to its call; one without a call is shown by itself. */
function putResult(messages: Messages, read: ReadMessage): Messages {
  const { callId } = read;
  const index = messages.findLastIndex(({ calls }) => calls.some(({ id }) => id === callId));
  const asking = messages[index];
  if (callId === undefined || !asking) {
    const next = shown(read, "tool", undefined, false);
    const known = indexOf(messages, read.id);
    return known === -1 ? [...messages, next] : replaced(messages, known, next);
  }
  return replaced(messages, index, withResult(asking, read));
}

function withResult(asking: ShownMessage, { callId, failed, text }: ReadMessage): ShownMessage {
  const calls = asking.calls.map((call): ShownCall => {
    const written = finished(call);
    return call.id === callId ? { ...written, status: failed ? "error" : "done", result: text } : written;
  });
  return { ...asking, calls, streaming: false };
}

/** A call of a message whose tools are at work was written to its end. */
function finished(call: ShownCall): ShownCall {
  if (call.status !== "writing") return call;
  return { ...call, status: "running", args: call.args ?? parsed(call.argsText) };
}

function parsed(text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One more piece of a message. One that is whole takes no more. */
export function putPiece(messages: Messages, read: ReadMessage): Messages {
  const id = shownId(messages, read.id);
  const index = indexOf(messages, id);
  const before = messages[index];
  if (before && !before.streaming) return messages;
  const next: ShownMessage = {
    id,
    role: "assistant",
    text: (before?.text ?? "") + read.text,
    reasoning: (before?.reasoning ?? "") + read.reasoning,
    media: read.media.length > 0 ? [...(before?.media ?? []), ...read.media] : (before?.media ?? []),
    calls: (read.pieces ?? []).reduce(putCallPiece, before?.calls ?? []),
    streaming: true,
    ...((read.name ?? before?.name) === undefined ? {} : { name: read.name ?? before?.name }),
    ...((read.usage ?? before?.usage) === undefined ? {} : { usage: read.usage ?? before?.usage }),
    ...((read.model ?? before?.model) === undefined ? {} : { model: read.model ?? before?.model }),
  };
  return index === -1 ? [...messages, next] : replaced(messages, index, next);
}

/** A piece with an id begins a call; others go on with the one of their index, or with the last. */
function putCallPiece(
  calls: readonly ShownCall[],
  { index, id, name, args }: ReadCallPiece,
): readonly ShownCall[] {
  const last = calls.length - 1;
  const at =
    id !== undefined
      ? calls.findIndex((call) => call.id === id)
      : index === undefined
        ? last
        : calls.findLastIndex((call) => call.piece === index);
  const call = calls[at];
  if (call) return calls.with(at, { ...call, argsText: call.argsText + args });
  if (id === undefined || name === undefined) return calls;
  const begun: ShownCall = { id, name, args: undefined, argsText: args, status: "writing" };
  return [...calls, index === undefined ? begun : { ...begun, piece: index }];
}

/** The list as the state has it. What is still being written and not yet in the state stays at the end. */
export function replaceMessages(messages: Messages, read: readonly ReadMessage[]): Messages {
  const known = new Map(messages.map((message) => [message.id, message]));
  const next: ShownMessage[] = [];
  const asking = new Map<string, number>();
  const listed = new Set<string>();
  for (const one of read) {
    if (one.role === "remove") continue;
    listed.add(one.id);
    const place = one.role === "tool" && one.callId !== undefined ? asking.get(one.callId) : undefined;
    if (place !== undefined) {
      next[place] = withResult(next[place] as ShownMessage, one);
      continue;
    }
    for (const { id } of one.calls) asking.set(id, next.length);
    next.push(shown(one, one.role, known.get(one.id), false));
  }
  const last = read.at(-1);
  for (const message of messages)
    if (message.streaming && !listed.has(message.id) && !(last && isWhole(message, last))) next.push(message);
  return shareList(
    messages,
    next.map((message) => share(known.get(message.id), message)),
  );
}

/** The old list when it has the very same parts. */
function shareList<Item>(before: readonly Item[], next: readonly Item[]): readonly Item[] {
  return before.length === next.length && next.every((item, index) => item === before[index]) ? before : next;
}

/** Every call, or only those of a status, with another status; nothing is being written any more. */
export function settleCalls(
  messages: Messages,
  status: (call: ShownCall) => CallStatus,
  streaming?: false,
): Messages {
  return share(
    messages,
    messages.map((message) => ({
      ...message,
      streaming: streaming ?? message.streaming,
      calls: message.calls.map((call) => {
        const done = streaming === false ? finished(call) : call;
        return { ...done, status: status(done) };
      }),
    })),
  );
}

/** One call of the agent with something changed. */
export function changeCall(messages: Messages, callId: string, change: Partial<ShownCall>): Messages {
  const place = messages.findLastIndex(({ calls }) => calls.some(({ id }) => id === callId));
  const message = messages[place];
  if (!message) return messages;
  const calls = message.calls.map((call) => (call.id === callId ? { ...call, ...change } : call));
  return replaced(messages, place, { ...message, calls });
}
