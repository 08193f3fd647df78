/** The public names of `deepwright`, and nothing else. */
export * from "./browser.ts";
export * from "./node.ts";
