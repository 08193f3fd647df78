import { describe, expect, it } from "vitest";
import { glob, grep, makeTree, type Tree } from "../tree-for-tests.ts";

/** Nothing in it is ever searched: directories alone, and files that are ignored. */
function treeOf(directories: number, ignored: number): Tree {
  const names = (count: number, name: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => [name(index), ""] as const);
  return Object.fromEntries([
    ["/.gitignore", "*.log\n.gitignore\n"],
    ...names(directories, (index) => `/empty/${index}/`),
    ...names(ignored, (index) => `/logs/${index}.log`),
  ]);
}

describe.each<[string, Tree]>([
  ["directories", treeOf(200, 0)],
  ["ignored files", treeOf(0, 2000)],
])("a tree of nothing but %s", (_name, tree) => {
  it("is left when the time is up", async () => {
    const root = makeTree(tree);
    const timedOut = { truncated: true, timedOut: true };
    expect(await grep(root, "x", { timeoutSeconds: 1e-6 })).toMatchObject(timedOut);
    expect(await glob(root, "**/*.log", { timeoutSeconds: 1e-6 })).toMatchObject(timedOut);
  });

  it("is left when its search is aborted", async () => {
    const controller = new AbortController();
    const searching = glob(makeTree(tree), "**/*.log", { signal: controller.signal, timeoutSeconds: 1e-6 });
    controller.abort(new Error("enough"));
    await expect(searching).rejects.toThrow("enough");
  });
});
