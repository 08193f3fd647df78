import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { factsOf } from "./facts.ts";
import { progressOf } from "./progress.ts";
import { answerText } from "./report.ts";

const answered = (listing: string) => {
  const call = { id: "c", name: "glob", args: { pattern: "**/*" } };
  const messages = [
    new HumanMessage("look"),
    new AIMessage({ content: "", tool_calls: [call] }),
    new ToolMessage({ content: listing, tool_call_id: "c", name: "glob" }),
  ];
  return answerText(factsOf(progressOf(messages)), undefined, undefined);
};

test("the number of files is exact, or said to be more where the list was cut", () => {
  expect(answered("/a.ts\n/b.ts")).toContain("The workspace has 2 files (2 .ts)");
  const cut = "[This result is too long to be shown: 900 lines. Ask for less.]\n\n/a.ts\n/b.ts";
  expect(answered(cut)).toContain("The workspace has at least 2 files");
});
