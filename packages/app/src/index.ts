/** Parts of an app that shows an agent at work: the model, the agent on a workspace, its events, its state. */
export * from "./agent-core.ts";
