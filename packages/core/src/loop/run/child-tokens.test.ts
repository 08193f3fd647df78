import { AIMessageChunk } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { isFromAgent } from "./child-tokens.ts";

const token = (namespace: string) => [new AIMessageChunk("hi"), { langgraph_checkpoint_ns: namespace }];
const OWN = token("model_request:1");
const CHILD = token("tools:1|model_request:2");

test.each<[string, string[], string, unknown, boolean]>([
  ["a token of the agent, up to LangGraph 1.6", ["model_request:1"], "messages", OWN, true],
  ["a token of the agent, later", [], "messages", OWN, true],
  ["a token of a child, up to LangGraph 1.6", ["tools:1", "model_request:2"], "messages", CHILD, false],
  ["a token of a child, later", ["tools:1"], "messages", CHILD, false],
  ["an update of the agent", [""], "updates", {}, true],
  ["an update of a child", ["tools:1"], "updates", {}, false],
])("%s", (_name, ns, type, data, isOwn) => {
  expect(isFromAgent(ns, type, data)).toBe(isOwn);
});
