/** Threads: state, history, changes from outside and forks. */
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "library";
import { outline } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const model = scripted(({ messages }) => {
    const last = messages.at(-1);
    return last?.text === "write"
      ? call("write_file", { file_path: "/a.txt", content: "a" }, `w${messages.length}`)
      : `reply to ${last?.getType() === "tool" ? "tool" : last?.text}`;
  });
  const agent = createDeepAgent({ model, checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "one" } };
  const say = (content: string, at: { configurable: Record<string, unknown> } = config) =>
    agent.invoke({ messages: [{ role: "user", content }] }, at);
  await say("write");
  await say("hello");
  const state = await agent.graph.getState(config);
  const values = state.values as { messages: Parameters<typeof outline>[0]; files: Record<string, unknown> };
  const history = [];
  for await (const one of agent.graph.getStateHistory(config)) history.push(one);
  const afterFirst = history.find((one) => one.next.length === 0 && one.values.messages.length === 4);
  const forked = afterFirst ? await say("instead", afterFirst.config as typeof config) : undefined;
  await agent.graph.updateState(config, { files: { "/a.txt": null } });
  const changed = (await agent.graph.getState(config)).values as { files?: Record<string, unknown> };
  const other = await say("hi", { configurable: { thread_id: "two" } });
  return {
    outline: outline(values.messages),
    files: Object.keys(values.files),
    next: state.next,
    hasHistory: history.length > 4,
    forked: forked && outline(forked.messages),
    afterUpdate: Object.keys(changed.files ?? {}),
    other: outline(other.messages),
  };
}
