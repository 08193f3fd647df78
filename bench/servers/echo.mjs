/** The graph as LangGraph's own server loads it: by the path of its file. */
import * as messages from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import * as langgraph from "@langchain/langgraph";
import { echoGraph } from "./echo-graph.mjs";

export const graph = echoGraph({ langgraph, messages, FakeListChatModel });
