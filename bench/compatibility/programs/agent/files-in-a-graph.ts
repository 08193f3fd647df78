/** The reducer of files in a graph of the program's own. */
import { END, START, StateGraph, StateSchema } from "@langchain/langgraph";
import { createDeepAgent, type FileData, filesValue } from "library";
import { z } from "zod";
import { withoutDates } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

const date = "2026-01-01T00:00:00.000Z";
const file = (content: string): FileData => ({
  content,
  mimeType: "text/plain",
  created_at: date,
  modified_at: date,
});

export default async function program() {
  const State = new StateSchema({ files: filesValue, log: z.array(z.string()).default([]) });
  const graph = new StateGraph(State)
    .addNode("one", () => ({ files: { "/one.txt": file("1"), "/both.txt": file("from one") } }))
    .addNode("two", () => ({ files: { "/two.txt": file("2") } }))
    .addNode("remove", () => ({ files: { "/given.txt": null }, log: ["removed"] }))
    .addEdge(START, "one")
    .addEdge(START, "two")
    .addEdge("one", "remove")
    .addEdge("two", "remove")
    .addEdge("remove", END)
    .compile();
  const result = await graph.invoke({ files: { "/given.txt": file("given") } });
  const untouched = await graph.invoke({});
  const agent = createDeepAgent({
    model: scripted([call("write_file", { file_path: "/new.txt", content: "n" }), "done"]),
  });
  const seeded = await agent.invoke({
    messages: [{ role: "user", content: "go" }],
    files: { "/seed.txt": file("seed") },
  });
  return withoutDates({
    files: result.files,
    log: result.log,
    untouched: Object.keys(untouched.files ?? {}).sort(),
    seeded: Object.entries(seeded.files ?? {}).map(([path, one]) => [path, one.content]),
  });
}
