/** The wire: one resource a file. Schemas are values, their types have the same name with a capital letter. */
export * from "./assistants.ts";
export * from "./crons.ts";
export * from "./ids.ts";
export * from "./runs.ts";
export * from "./store.ts";
export * from "./threads.ts";
