/** One thread for both libraries: a run of one, then a run of the other on the same checkpoints. */
import { SharedMemorySaver } from "@deepwright/checkpoint";
import { MemorySaver } from "@langchain/langgraph";
import { callTool, scriptedModel } from "deepwright/testing";
import { tool } from "langchain";
import { z } from "zod";
import {
  base64,
  png,
  readAll,
  stored,
  storedContents,
  text,
  writeAll,
  writtenContents,
} from "./contents.mjs";

const thread = { configurable: { thread_id: "exchange" } };
const savers = { "a stock saver": () => new MemorySaver(), "our saver": () => new SharedMemorySaver() };

/** One run of an agent that makes these calls. */
async function run({ createDeepAgent }, checkpointer, calls, options = {}, input = {}) {
  const model = scriptedModel([...calls, "done"]);
  const agent = createDeepAgent({ model, checkpointer, ...options });
  const result = await agent.invoke({ messages: [{ role: "user", content: "go" }], ...input }, thread);
  return { agent, result };
}

/** A tool whose work is done on the thread's files, in the middle of a run. */
function onFiles(library, work, answers, fileFormat) {
  return tool(
    async () => {
      answers.push(await work(new library.StateBackend({ fileFormat })));
      return "done";
    },
    { name: "on_files", description: "Works on the files.", schema: z.object({}) },
  );
}

async function inRun(library, checkpointer, work, { fileFormat, files } = {}) {
  const answers = [];
  const tools = [onFiles(library, work, answers, fileFormat)];
  await run(library, checkpointer, [callTool("on_files", {})], { tools }, files ? { files } : {});
  return answers[0];
}

/** The files of the thread, as a program reads them from outside. */
async function fromOutside(library, checkpointer, contents) {
  const agent = library.createDeepAgent({ model: scriptedModel([]), checkpointer });
  const { values } = await agent.getState(thread);
  return readAll(new library.StateBackend({ state: values }), contents);
}

function casesOf(saverName, newSaver) {
  return [
    {
      name: `thread on ${saverName}: files of the input`,
      run: async ({ writer, reader }) => {
        const saver = newSaver();
        await run(writer, saver, [], {}, { files: stored });
        const inside = await inRun(reader, saver, (backend) => readAll(backend, storedContents));
        return [...inside, ...(await fromOutside(reader, saver, storedContents))];
      },
    },
    {
      name: `thread on ${saverName}: files that tools wrote`,
      run: async ({ writer, reader }) => {
        const saver = newSaver();
        const calls = [
          callTool("write_file", { file_path: "/note.md", content: text }),
          callTool("write_file", { file_path: "/drawn.png", content: base64(png) }),
        ];
        await run(writer, saver, calls);
        const contents = { "/note.md": text, "/drawn.png": png };
        const inside = await inRun(reader, saver, (backend) => readAll(backend, contents));
        return [...inside, ...(await fromOutside(reader, saver, contents))];
      },
    },
    {
      name: `thread on ${saverName}: files that a program wrote in a run`,
      run: async ({ writer, reader }) => {
        const saver = newSaver();
        await inRun(writer, saver, writeAll);
        const inside = await inRun(reader, saver, (backend) => readAll(backend, writtenContents));
        return [...inside, ...(await fromOutside(reader, saver, writtenContents))];
      },
    },
    {
      name: `thread on ${saverName}: fileFormat v1`,
      run: async ({ writer, reader }) => {
        const saver = newSaver();
        await inRun(writer, saver, (backend) => backend.write("/note.md", "a\nb"), { fileFormat: "v1" });
        const raw = await inRun(reader, saver, (backend) => backend.readRaw("/note.md"), {
          fileFormat: "v1",
        });
        const outside = await fromOutside(reader, saver, { "/note.md": "a\nb" });
        return [["readRaw v1", raw.data.content, ["a", "b"]], ...outside];
      },
    },
    {
      name: `thread on ${saverName}: it goes on with its messages and changed files`,
      run: async ({ writer, reader }) => {
        const saver = newSaver();
        await run(writer, saver, [callTool("write_file", { file_path: "/a.md", content: "one" })]);
        const edit = callTool("edit_file", { file_path: "/a.md", old_string: "one", new_string: "two" });
        await run(reader, saver, [edit, callTool("write_file", { file_path: "/b.md", content: "b" })]);
        const { result } = await run(writer, saver, [callTool("delete", { file_path: "/b.md" })]);
        const types = result.messages.map((message) => message.getType()).join(" ");
        const turn = "human ai tool ai";
        return [
          [
            "files",
            Object.entries(result.files).map(([path, { content }]) => [path, content]),
            [["/a.md", "two"]],
          ],
          ["messages", types, `${turn} human ai tool ai tool ai ${turn}`],
        ];
      },
    },
  ];
}

export const threadCases = Object.entries(savers).flatMap(([name, open]) => casesOf(name, open));
