/** Events of runs as JSON for clients, for programs that run agents without the server. For our own packages. */
export { streamShape } from "./runs/wire/stream-events.ts";
export { createErrorWords } from "./runs/wire/wire-error.ts";
export { createWireJson } from "./runs/wire/wire-json.ts";
