/** A process whose agent runs one command after the other, to be killed. Arguments: database, thread, directory, commands. */
import { createDeepAgent, LocalShellBackend } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { SqliteSaver } from "../../sqlite/index.ts";

const [path = "", thread = "", rootDir = "", ...commands] = process.argv.slice(2);
const saver = await SqliteSaver.open(path);
const backend = new LocalShellBackend({ rootDir, virtualMode: true });
const turns = commands.map((command) => callTool("execute", { command }));
const agent = createDeepAgent({
  model: scriptedModel([...turns, say("Done.")]),
  checkpointer: saver,
  backend,
});
await agent.invoke({ messages: "Go" }, { configurable: { thread_id: thread } });
await backend.close();
await saver.close();
