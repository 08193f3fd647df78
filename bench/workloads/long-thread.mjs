/** Turns at the end of a thread that was handed in long. The turns alone; handing it in is apart. */
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { load, runConfig } from "./contender.mjs";
import { cpuNow } from "./cpu.mjs";
import { ask, benchModel, makeFiles, readTurns } from "./script.mjs";

export async function measure(contender, { messages, turns }) {
  const { create } = await load(contender);
  await run(create, 40, turns);
  return run(create, messages, turns);
}

async function run(create, messages, turns) {
  const marks = [];
  const files = makeFiles(10, 500);
  const agent = create({ model: benchModel(readTurns(turns, 10, () => marks.push(cpuNow()))) });
  const history = earlierTurns(messages);
  const input = { messages: [...history, ...ask("Begin.").messages], files };
  const result = await agent.invoke(input, runConfig());
  const expected = history.length + 1 + 2 * turns + 1;
  if (result.messages.length !== expected)
    throw new Error(`Expected ${expected} messages, found ${result.messages.length}.`);
  return { cpu: (marks.at(-1) - marks[0]) / turns };
}

/** Questions, calls, results and answers of a conversation, four messages at a time. */
function earlierTurns(messages) {
  const list = [new HumanMessage({ id: "h", content: "Look at the files one after the other." })];
  for (let i = 0; list.length < messages; i += 1) {
    const id = `call-${i}`;
    const call = { name: "read_file", args: { file_path: `/docs/page-${i}.md` }, id, type: "tool_call" };
    list.push(
      new AIMessage({ id: `a-${i}`, content: "", tool_calls: [call] }),
      new ToolMessage({ id: `t-${i}`, content: `page ${i}: ${"words ".repeat(30)}`, tool_call_id: id }),
    );
  }
  return [...list, new AIMessage({ id: "end", content: "That was all." })];
}
