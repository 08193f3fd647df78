/** All public names: those of any runtime, and those that need Node. */
export * from "./browser.ts";
export * from "./node-only.ts";
