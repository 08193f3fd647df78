/** Many children at once: the parent hands out work in one turn, each child changes one file and reports. */
import { HumanMessage } from "@langchain/core/messages";
import { load, runConfig } from "./contender.mjs";
import { timed } from "./cpu.mjs";
import { openSaverOf, storedSize } from "./savers.mjs";
import { ask, benchModel, filePath, makeFiles, textOf } from "./script.mjs";

export async function measure(contender, { children, saver: kind = "none", files = 0, fileBytes = 0 }) {
  const { create } = await load(contender);
  const opened = kind === "none" ? undefined : await openSaverOf(contender, kind);
  const given = makeFiles(files, fileBytes);
  const input = (text) => ({ ...ask(text), ...(files > 0 ? { files: given } : {}) });
  const work = files > 0 ? editOwnFile : writeOwnFile;
  const warm = create(team(4, work));
  await warm.invoke(input("Begin."), runConfig());
  const agent = create({ ...team(children, work), ...(opened ? { checkpointer: opened.saver } : {}) });
  const { result, cpu, wall } = await timed(() => agent.invoke(input("Begin."), runConfig("bench")));
  check(result, children, files);
  const metrics = { cpu: cpu / children, wall: wall / children };
  if (opened === undefined) return metrics;
  const bytes = await opened.written();
  const news = (await storedSize(result)) + children * (await childNews(create, work, given));
  await opened.close();
  return { ...metrics, megabytes: bytes / 1e6, amplification: bytes / news };
}

function team(children, work) {
  const calls = Array.from({ length: children }, (_, i) => ({
    name: "task",
    args: { description: `Work ${i}`, subagent_type: "worker" },
  }));
  return {
    model: benchModel(({ turn }) => (turn === 0 ? { toolCalls: calls } : "Done.")),
    subagents: [
      {
        name: "worker",
        description: "Changes one file.",
        systemPrompt: "Change your file.",
        tools: [],
        model: benchModel(childTurn(work)),
      },
    ],
  };
}

function childTurn(work) {
  return ({ messages }) => {
    if (messages.at(-1).type === "tool") return `I did ${numberOf(messages)}.`;
    return { toolCalls: [work(numberOf(messages))] };
  };
}

const numberOf = (messages) => Number(messages.find((m) => m.type === "human").text.split(" ")[1]);

function writeOwnFile(i) {
  return { name: "write_file", args: { file_path: `/out/${i}.txt`, content: `The work of child ${i}.` } };
}

function editOwnFile(i) {
  const args = { old_string: "revision 0 of the page", new_string: `revision 1 of the page, by ${i}` };
  return { name: "edit_file", args: { file_path: filePath(i), ...args } };
}

/** What a child says and hears, stored once. */
async function childNews(create, work, files) {
  const child = create({ model: benchModel(childTurn(work)) });
  const result = await child.invoke({ messages: [new HumanMessage("Work 0")], files }, runConfig());
  return storedSize({ messages: result.messages, files: {} });
}

function check(result, children, files) {
  const results = result.messages.filter((message) => message.type === "tool");
  if (results.length !== children) throw new Error(`Expected ${children} results, got ${results.length}.`);
  results.forEach((message, i) => {
    if (!message.text.includes(`I did ${i}.`))
      throw new Error(`Child ${i} said: ${message.text.slice(0, 200)}`);
  });
  for (let i = 0; i < children; i += 1) {
    const path = files > 0 ? filePath(i) : `/out/${i}.txt`;
    if (!textOf(result.files[path] ?? { content: "" }).includes(`${i}`))
      throw new Error(`No work in ${path}.`);
  }
}
