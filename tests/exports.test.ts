import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as ours from "deepwright";
import { expect, test } from "vitest";

const words = (list: string): string[] => list.trim().split(/\s+/);

/** Names of the peer we do not have, each with the reason. It may only shrink. */
const MISSING: Record<string, readonly string[]> = {
  "is `langsmithSandbox` of @deepwright/sandboxes/langsmith": words("LangSmithSandbox"),
  "files in LangSmith's hub, which we have no backend for": words("ContextHubBackend"),
};

test("what the peer exports and we do not is listed here with a reason", async () => {
  const file = resolve("bench", "node_modules", "deepagents", "dist", "index.js");
  const peer = (await import(pathToFileURL(file).href)) as object;
  const missing = Object.keys(peer).filter((name) => !(name in ours));
  expect(missing.toSorted()).toEqual(Object.values(MISSING).flat().toSorted());
});
