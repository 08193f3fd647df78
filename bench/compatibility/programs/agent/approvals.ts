/** Approve, edit and reject calls that wait for a person. */
import { Command, MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "library";
import { outline, results } from "../../kit/look.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

type Decision = Record<string, unknown>;
const config = { configurable: { thread_id: "t" } };

async function decide(decision: Decision) {
  const model = scripted([call("write_file", { file_path: "/a.txt", content: "asked" }), "done"]);
  const agent = createDeepAgent({
    model,
    interruptOn: { write_file: true },
    checkpointer: new MemorySaver(),
  });
  const first = await agent.invoke({ messages: [{ role: "user", content: "go" }] }, config);
  const waiting = (first as { __interrupt__?: { value?: unknown }[] }).__interrupt__?.[0]?.value;
  const result = await agent.invoke(new Command({ resume: { decisions: [decision] } }), config);
  return {
    waiting: waiting as {
      actionRequests: Record<string, unknown>[];
      reviewConfigs: Record<string, unknown>[];
    },
    outline: outline(result.messages),
    files: Object.entries(result.files ?? {}).map(([path, file]) => [path, file.content]),
    tool: results(result.messages, "write_file"),
  };
}

export default async function program() {
  const approved = await decide({ type: "approve" });
  const edited = await decide({
    type: "edit",
    editedAction: { name: "write_file", args: { file_path: "/b.txt", content: "edited" } },
  });
  const rejected = await decide({ type: "reject", message: "not that file" });
  const request = approved.waiting?.actionRequests[0];
  return {
    request: request && { name: request.name, args: request.args, described: typeof request.description },
    review: approved.waiting?.reviewConfigs,
    approved: [approved.outline, approved.files],
    edited: [edited.outline, edited.files],
    rejected: [rejected.outline, rejected.files, rejected.tool[0]?.includes("not that file")],
  };
}
