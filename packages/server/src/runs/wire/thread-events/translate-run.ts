/** The stored events of one run, in order, as events of the thread-centric protocol. */
import { parseEventName, type RunStatus } from "@deepwright/protocol";
import { isRecord } from "deepwright/check-options";
import type { RunEvent } from "../../../records/records.ts";
import { MessageBlocks } from "./message-blocks.ts";
import type { NewThreadEvent } from "./thread-event.ts";

type Data = Readonly<Record<string, unknown>>;

interface SubGraph {
  readonly namespace: readonly string[];
  readonly name: string;
  readonly callId: string | undefined;
}

const STATUS: Partial<Record<RunStatus, string>> = { success: "completed", interrupted: "interrupted" };

/** One for each run and reader: it remembers which messages and graphs have begun. */
export class RunTranslator {
  readonly #graphName: string;
  readonly #messages = new Map<string, MessageBlocks>();
  /** Calls of tools by their place: a graph that begins there was begun by the call. */
  readonly #calls = new Map<string, { readonly id: string; readonly name: string }>();
  readonly #graphs = new Map<string, SubGraph>();
  readonly #asked = new Set<string>();
  #error: string | undefined;

  constructor(graphName: string) {
    this.#graphName = graphName;
  }

  *translate({ event, data: json }: Pick<RunEvent, "event" | "data">): Generator<NewThreadEvent> {
    const { kind, namespace } = parseEventName(event);
    const data: unknown = JSON.parse(json);
    if (kind !== "tools" && namespace.length > 0) yield* this.#begins(namespace);
    switch (kind) {
      case "metadata":
        if ((data as { attempt?: unknown }).attempt === 1) yield this.#root("running");
        return;
      case "error":
        this.#error = String((data as { message?: unknown }).message ?? "The run failed.");
        return;
      case "end":
        return yield* this.#ended(data as { readonly status?: RunStatus } | null);
      case "messages":
        return yield* this.#message(namespace, data);
      case "values":
        return yield* this.#values(namespace, data);
      case "updates":
        return yield* this.#updates(namespace, data);
      case "tools":
        return yield* this.#tool(namespace, data as Data);
      case "checkpoints":
        return yield* checkpoint(namespace, data as Data);
      case "tasks":
        yield { method: "tasks", namespace, data };
        return;
      case "custom":
        yield { method: "custom", namespace, data: { payload: data } };
    }
  }

  #root(event: string, more: object = {}): NewThreadEvent {
    return { method: "lifecycle", namespace: [], data: { event, graph_name: this.#graphName, ...more } };
  }

  *#begins(namespace: readonly string[]): Generator<NewThreadEvent> {
    const key = namespace.join("|");
    if (this.#graphs.has(key)) return;
    const call = this.#calls.get(key);
    const name = call?.name ?? namespace.at(-1)?.split(":", 1)[0] ?? "";
    this.#graphs.set(key, { namespace, name, callId: call?.id });
    const cause = call && { cause: { type: "toolCall", tool_call_id: call.id } };
    yield { method: "lifecycle", namespace, data: { event: "started", graph_name: name, ...cause } };
  }

  *#ended(data: { readonly status?: RunStatus } | null): Generator<NewThreadEvent> {
    for (const namespace of [...this.#messages.keys()]) yield* this.#finishMessages(namespace);
    const event = (data?.status && STATUS[data.status]) ?? "failed";
    for (const graph of [...this.#graphs.values()]) yield* this.#graphEnds(graph, event);
    yield this.#root(event, event === "failed" ? { error: this.#error ?? "The run failed." } : {});
  }

  *#graphEnds({ namespace, name }: SubGraph, event: string): Generator<NewThreadEvent> {
    if (!this.#graphs.delete(namespace.join("|"))) return;
    yield { method: "lifecycle", namespace, data: { event, graph_name: name } };
  }

  *#message(namespace: readonly string[], data: unknown): Generator<NewThreadEvent> {
    const [piece, metadata] = Array.isArray(data) ? data : [];
    const key = namespace.join("|");
    const blocks = this.#messages.get(key) ?? new MessageBlocks();
    this.#messages.set(key, blocks);
    for (const found of blocks.piece(piece, metadata)) yield { method: "messages", namespace, data: found };
  }

  *#finishMessages(key: string): Generator<NewThreadEvent> {
    const namespace = key === "" ? [] : key.split("|");
    for (const data of this.#messages.get(key)?.finishAll() ?? [])
      yield { method: "messages", namespace, data };
  }

  *#values(namespace: readonly string[], data: unknown): Generator<NewThreadEvent> {
    yield* this.#finishMessages(namespace.join("|"));
    if (!isRecord(data)) return;
    const { __interrupt__: asked, ...values } = data;
    yield* this.#asks(namespace, asked);
    if (Object.keys(values).length > 0) yield { method: "values", namespace, data: values };
  }

  *#updates(namespace: readonly string[], data: unknown): Generator<NewThreadEvent> {
    yield* this.#finishMessages(namespace.join("|"));
    if (!isRecord(data)) return;
    for (const [node, update] of Object.entries(data)) {
      if (node === "__interrupt__") yield* this.#asks(namespace, update);
      else yield { method: "updates", namespace, node, data: { node, values: update ?? {} } };
    }
  }

  /** Questions of subagents come up to the thread, which is where they are answered. */
  *#asks(namespace: readonly string[], asked: unknown): Generator<NewThreadEvent> {
    if (namespace.length > 0 || !Array.isArray(asked)) return;
    for (const { id, value } of asked.filter(isRecord)) {
      if (typeof id !== "string" || this.#asked.has(id)) continue;
      this.#asked.add(id);
      yield { method: "input.requested", namespace, data: { interrupt_id: id, payload: value } };
    }
  }

  *#tool(namespace: readonly string[], data: Data): Generator<NewThreadEvent> {
    const { event, toolCallId: id, name, input, output, error } = data;
    const key = namespace.join("|");
    const tool = (found: object): NewThreadEvent => ({
      method: "tools",
      namespace,
      data: { ...found, tool_call_id: id },
    });
    if (event === "on_tool_start") {
      this.#calls.set(key, { id: String(id), name: subagentIn(input) ?? String(name) });
      yield tool({ event: "tool-started", tool_name: name, input });
    } else if (event === "on_tool_event") {
      const delta = typeof data.data === "string" ? data.data : JSON.stringify(data.data ?? null);
      yield tool({ event: "tool-output-delta", delta });
    } else {
      const failure = isRecord(error) ? error : undefined;
      const isQuestion = failure?.error === "GraphInterrupt";
      const graph = this.#graphs.get(key);
      if (event === "on_tool_end") yield tool({ event: "tool-finished", output });
      else if (!isQuestion)
        yield tool({ event: "tool-error", message: String(failure?.message ?? "The call failed.") });
      const status = event === "on_tool_end" ? "completed" : isQuestion ? "interrupted" : "failed";
      if (graph?.callId === id && graph) yield* this.#graphEnds(graph, status);
    }
  }
}

function* checkpoint(namespace: readonly string[], data: Data): Generator<NewThreadEvent> {
  const idOf = (place: unknown): string | undefined =>
    isRecord(place) && typeof place.checkpoint_id === "string" ? place.checkpoint_id : undefined;
  const id = idOf(data.checkpoint);
  const { step, source } = isRecord(data.metadata) ? data.metadata : {};
  if (id === undefined) return;
  const parent = idOf(data.parent_checkpoint);
  const envelope = { id, ...(parent !== undefined && { parent_id: parent }), step, source };
  yield { method: "checkpoints", namespace, data: envelope };
}

/** The agent that the call of a tool hands its task to. */
function subagentIn(input: unknown): string | undefined {
  if (typeof input !== "string" || !input.includes('"subagent_type"')) return undefined;
  try {
    const { subagent_type: name } = JSON.parse(input) as { subagent_type?: unknown };
    return typeof name === "string" ? name : undefined;
  } catch {
    return undefined;
  }
}
