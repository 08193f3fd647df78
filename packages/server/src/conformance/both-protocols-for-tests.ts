/** One conversation by either stream protocol: texts up to a question, the question, and the messages after its answer. */
import { Client } from "@langchain/langgraph-sdk";
import type { Server } from "./talk-for-tests.ts";

/** Messages for the echo graph of `bench/servers`. */
export const ORDERS = ["hello", "say one two", "child below", "note this", "ask", "fail"] as const;

export interface Conversation {
  /** Streamed from the model. */
  readonly texts: readonly string[];
  readonly asked: readonly unknown[];
  readonly messages: readonly unknown[];
}

const said = (content: string) => ({ messages: [{ role: "user", content }] });

const clientOf = ({ url, apiKey }: Server) => new Client({ apiUrl: url, ...(apiKey && { apiKey }) });

/** By `client.runs.stream()`. */
export async function olderProtocol(server: Server, order: string): Promise<Conversation> {
  const client = clientOf(server);
  const { thread_id } = await client.threads.create();
  const texts = new Map<string, string>();
  const asked: unknown[] = [];
  const stream = async (body: object) => {
    const options = { streamMode: ["values", "messages-tuple"], streamSubgraphs: true, ...body };
    for await (const { event, data } of client.runs.stream(thread_id, "echo", options as never) as any) {
      if (event.startsWith("messages")) {
        const [{ id, content, type }] = data;
        if (/^ai/i.test(type)) texts.set(id, (texts.get(id) ?? "") + content);
      }
      if (event === "values") asked.push(...(data.__interrupt__ ?? []).map(({ value }: any) => value));
    }
  };
  await stream({ input: said(order) });
  const heard = [...texts.values()];
  if (asked.length > 0) await stream({ command: { resume: "yes" } });
  return { texts: heard, asked, messages: await messagesOf(client, thread_id) };
}

/** By `client.threads.stream()`. */
export async function newerProtocol(server: Server, order: string): Promise<Conversation> {
  const client = clientOf(server);
  const { thread_id } = await client.threads.create();
  const thread = client.threads.stream(thread_id, { assistantId: "echo" });
  const texts: string[] = [];
  const listening = (async () => {
    for await (const message of thread.messages) texts.push(await message.text);
  })();
  await thread.run.start({ input: said(order) });
  // A run that fails ends the messages with its error.
  await listening.catch(() => undefined);
  const asked = thread.interrupts.map(({ payload }) => payload);
  const [first] = thread.interrupts;
  if (first) {
    const { interruptId: interrupt_id, namespace } = first;
    await thread.input.respond({ interrupt_id, namespace, response: "yes" });
    const [newest] = await client.runs.list(thread_id);
    await client.runs.join(thread_id, newest?.run_id as string);
  }
  await thread.close();
  return { texts, asked, messages: await messagesOf(client, thread_id) };
}

async function messagesOf(client: Client, threadId: string): Promise<unknown[]> {
  const { values } = await client.threads.getState<{ messages: { type: string; content: unknown }[] }>(
    threadId,
  );
  return (values.messages ?? []).map(({ type, content }) => [type, textOf(content)]);
}

/** With the newer protocol LangGraph's server stores blocks. */
function textOf(content: unknown): unknown {
  return Array.isArray(content) ? content.map(({ text }) => text).join("") : content;
}
