/** The public names of `deepwright`, and nothing else. */
export * from "./node.ts";
