/** A long conversation is summarized, and the rest of it goes to a file. */

import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { computeSummarizationDefaults, createSummarizationMiddleware, FilesystemBackend } from "library";
import { scratch } from "../../kit/scratch.ts";
import { scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const rootDir = scratch("summaries");
  const backend = new FilesystemBackend({ rootDir, virtualMode: true });
  const summarizer = scripted(() => "SUMMARY OF OLD");
  const model = scripted(({ turn }) => `answer ${turn}`);
  const middleware = createSummarizationMiddleware({
    model: summarizer,
    backend,
    trigger: { type: "messages", value: 6 },
    keep: { type: "messages", value: 2 },
    historyPathPrefix: "/history",
  });
  const agent = createAgent({ model, middleware: [middleware], checkpointer: new MemorySaver() });
  const config = { configurable: { thread_id: "t1" } };
  for (let i = 0; i < 5; i++)
    await agent.invoke({ messages: [{ role: "user", content: `question ${i}` }] }, config);
  const last = model.requests.at(-1)?.messages ?? [];
  const files = (await backend.glob("**/*", "/")).files?.map(({ path }) => path) ?? [];
  const history = files[0] ? String((await backend.read(files[0])).content) : "";
  const state = await agent.graph.getState(config);
  return {
    name: middleware.name,
    summaries: summarizer.requests.length,
    requests: model.requests.length,
    lastRequest: last.map((one) => one.getType()),
    lastHasSummary: last.some((one) => one.text.includes("SUMMARY OF OLD")),
    lastQuestion: last.at(-1)?.text,
    folder: files.map((path) => path.split("/").slice(0, -1).join("/")),
    historyHasOld: history.includes("question 0"),
    kept: (state.values as { messages: unknown[] }).messages.length,
    defaults: computeSummarizationDefaults(scripted([])),
    withProfile: computeSummarizationDefaults(scripted([], { profile: { maxInputTokens: 100_000 } })),
  };
}
