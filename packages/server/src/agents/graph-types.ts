/** Types of graphs. */
import type { Pregel } from "@langchain/langgraph";

/** A compiled graph of any library: its own type parameters are not known here. */
export type AnyGraph = Pregel<any, any, any, any, any>;
