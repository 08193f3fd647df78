import type { ClientTool, ServerTool } from "@langchain/core/tools";

export type AnyTool = ClientTool | ServerTool;
