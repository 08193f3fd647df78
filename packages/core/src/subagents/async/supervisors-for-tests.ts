/** Supervisors and background agents for tests. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "../../agent.ts";
import { type ScriptedRequest, scriptedModel, type Turn } from "../../testing/index.ts";
import type { AsyncTask } from "./async-task.ts";

/** A promise that is kept from outside. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Words of people and mail in a request, in order. */
export function said({ messages }: { readonly messages: readonly unknown[] }): string[] {
  return messages.filter((message) => HumanMessage.isInstance(message)).map(({ text }) => text);
}

/** An agent that answers every order with `answer` of its last words. */
export function background(answer: (order: string, request: ScriptedRequest) => Turn | Promise<Turn>) {
  return createDeepAgent({
    model: scriptedModel((request) => answer(said(request).at(-1) ?? "", request)),
    profile: { generalPurposeSubagent: { enabled: false } },
  });
}

const isMail = (text: string): boolean => text.startsWith("[Background task");

/** A person's message of lines `tool {"some": "arguments"}` has the model call these tools, and then say what came out. */
export function obeying() {
  return scriptedModel((request) => {
    const last = request.messages.at(-1);
    if (ToolMessage.isInstance(last)) return `It says: ${last.text}`;
    const news = request.messages.slice(request.messages.findLastIndex(({ type }) => type === "ai") + 1);
    const order = news.find(({ type, text }) => type === "human" && !isMail(text))?.text ?? "";
    const orders = order
      .split("\n")
      .map((line) => /^(\w+) (\{.*\})$/.exec(line))
      .filter((match) => match !== null);
    if (orders.length === 0) return `Heard: ${last?.text}`;
    return { toolCalls: orders.map(([, name = "", args = ""]) => ({ name, args: JSON.parse(args) })) };
  });
}

export function supervisor(options: Record<string, unknown> = {}) {
  return createDeepAgent({
    model: obeying(),
    checkpointer: new MemorySaver(),
    subagents: [{ name: "researcher", description: "Looks things up.", graphId: "research" }],
    ...options,
  });
}

type Supervisor = ReturnType<typeof supervisor>;

/** One thread of a supervisor, in a person's hands. */
export function talk(agent: Supervisor, threadId: string) {
  const config = { configurable: { thread_id: threadId } };
  const tell = (content: string) => agent.invoke({ messages: [{ role: "user", content }] }, config);
  const call = async (...orders: readonly (readonly [tool: string, args?: object])[]) => {
    const lines = orders.map(([tool, args = {}]) => `${tool} ${JSON.stringify(args)}`);
    const { messages } = await tell(lines.join("\n"));
    const from = messages.findLastIndex((one) => HumanMessage.isInstance(one) && !isMail(one.text));
    return messages.slice(from).filter((message) => ToolMessage.isInstance(message)) as ToolMessage[];
  };
  return {
    config,
    tell,
    call,
    async one(tool: string, args: object = {}): Promise<ToolMessage> {
      const [result] = await call([tool, args]);
      return result as ToolMessage;
    },
    async tasks(): Promise<readonly AsyncTask[]> {
      const { values } = await agent.getState(config);
      return Object.values((values.asyncTasks ?? {}) as Record<string, AsyncTask>);
    },
    async heard(): Promise<string[]> {
      const { values } = await agent.getState(config);
      return said(values as never).filter(isMail);
    },
  };
}
