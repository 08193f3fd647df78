/** `deepwright/consolidation`: proposes lasting memories from past conversations. */

export type { ConsolidateOptions, ConsolidationReport } from "./consolidate.ts";
export {
  type ConsolidationAgent,
  type ConsolidationAgentOptions,
  createConsolidationAgent,
} from "./consolidation-agent.ts";
export type * from "./conversations.ts";
export type { MemoryFileChange } from "./memory-changes.ts";
export { CONSOLIDATION_PROMPT } from "./words.ts";
