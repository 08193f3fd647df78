/** Looks at a view with axe, in light and dark. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "vitest";
import type { TestPage } from "./page-for-tests.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly target: readonly string[] }[];
}

/** The policy of the page forbids new scripts, so axe comes in a world of its own. */
async function serious({ context, page }: TestPage): Promise<readonly string[]> {
  const session = await context.newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", {
    frameId: frameTree.frame.id,
  });
  await session.send("Runtime.evaluate", { expression: AXE, contextId: executionContextId });
  const { result } = await session.send("Runtime.evaluate", {
    expression: "axe.run().then(({ violations }) => JSON.stringify(violations))",
    contextId: executionContextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return (JSON.parse(result.value) as Found[])
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

/** Nothing serious is found, and nothing is wider than the screen or its pane. */
export async function expectGood(site: TestPage, view: string): Promise<void> {
  const { page } = site;
  for (const theme of ["light", "dark"]) {
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    expect(await serious(site), `${view}, ${theme}`).toEqual([]);
  }
  const tooWide = await page.evaluate(() => {
    const panes = ["html", ".conversation", ".panel-body", ".sidebar", ".inbox", ".settings", ".time-side"];
    return panes.filter((name) =>
      [...document.querySelectorAll(name)].some((pane) => pane.scrollWidth > pane.clientWidth),
    );
  });
  expect(tooWide, view).toEqual([]);
}
