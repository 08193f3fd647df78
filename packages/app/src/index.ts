/** Parts of an app that shows an agent at work: the model, the agent on a workspace, its events, its state. */

export { MODE_WORDS } from "./agent-core/prompt.ts";
export { chosenSearch } from "./agent-core/search-settings.ts";
export { webSearchTool } from "./agent-core/web-search.ts";
export * from "./agent-core.ts";
