/** The files tab: the tree, texts, pictures, documents that never run, the editor with its conflict check, authors of lines, steps compared. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FilesystemBackend, guardBackend } from "deepwright";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectGood } from "../axe-for-tests.ts";
import { ask, closeClean, type FolderPage, openFolderPage } from "../folder-page-for-tests.ts";
import { scriptedAgent } from "../page-for-tests.ts";

let site: FolderPage;
let page: Page;

const RUNS = "window.__ran = 1; fetch('https://example.org/')";
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

beforeAll(async () => {
  const permissions = [{ operations: ["read", "write"], paths: ["/private/**"], mode: "deny" }] as never;
  const files = {
    "src/total.ts": "export const total = 1;\nexport const name = 'a';\n",
    "private/key.txt": "key",
    "page.html": `<!doctype html><script>${RUNS}</script><h1>hello</h1>`,
    "drawing.svg": `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUNS}"/>`,
    "paper.pdf": Buffer.from([0x25, 0x50, 0x44, 0x46, 0x2d, 0, 0xff, 0xfe]),
    "picture.png": Buffer.from(PIXEL, "base64"),
    "windows.txt": "one\r\ntwo\r\n",
  };
  site = await openFolderPage(files, (folder) => {
    const backend = new FilesystemBackend({ rootDir: folder, virtualMode: true });
    return {
      agents: { inThread: scriptedAgent({ interruptOn: {} }) },
      workspace: guardBackend(backend, permissions) as FilesystemBackend,
    };
  });
  page = site.page;
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.goto(`${site.server.url}/#/`);
  await page.getByRole("combobox", { name: "Agent" }).selectOption("agent");
  await ask(page, "run sed -i s/1/2/ src/total.ts");
  await ask(page, "run echo 'export const more = 3;' >> src/total.ts");
  await page.getByRole("tab", { name: "Files" }).click();
});
afterAll(() => closeClean(site));

const panel = () => page.getByRole("tabpanel");
const button = (name: string) => panel().getByRole("button", { name, exact: true });

async function open(...path: readonly string[]): Promise<void> {
  if (await button("← All files").isVisible()) await button("← All files").click();
  for (const name of path)
    if ((await button(name).getAttribute("aria-expanded")) !== "true") await button(name).click();
}

test("directories open one by one, and a text has colours and line numbers", async () => {
  await open("src/", "total.ts");
  await panel().getByRole("heading", { name: "/src/total.ts" }).waitFor();
  await panel().locator(".hl-keyword").first().waitFor();
  await panel().getByRole("row", { name: "3 export const more" }).waitFor();
  await open();
  await button("page.html").waitFor();
  expect(await panel().getByText("private").count()).toBe(0);
});

test("pictures are shown; HTML and SVG are text, PDF is a download, and nothing of them runs", async () => {
  await open("picture.png");
  const picture = panel().getByRole("img");
  await expect.poll(() => picture.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(1);
  for (const name of ["page.html", "drawing.svg"]) {
    await open(name);
    await panel().getByText("Shown as text").waitFor();
    await panel().getByText("__ran").first().waitFor();
  }
  await open("paper.pdf");
  await panel().getByText("neither text nor a picture").waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    panel().getByRole("link", { name: "Download" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("paper.pdf");
  expect(readFileSync(await download.path()).length).toBe(8);
  expect(await panel().locator("iframe, object, embed, script, svg").count()).toBe(0);
  expect(await page.evaluate(() => (window as { __ran?: number }).__ran)).toBeUndefined();
});

test("a text is edited and saved with its own line ends; a file that changed meanwhile is not overwritten", async () => {
  await open("windows.txt");
  await button("Edit").click();
  const field = panel().getByRole("textbox", { name: "Content of /windows.txt" });
  await field.fill("one\nsecond\n");
  await panel().getByText("not saved yet").waitFor();
  await open("windows.txt");
  expect(await field.inputValue()).toBe("one\nsecond\n");
  await button("Save").click();
  await expect.poll(() => site.file("windows.txt")).toBe("one\r\nsecond\r\n");
  await button("Edit").click();
  await field.fill("mine\n");
  writeFileSync(join(site.folder, "windows.txt"), "somebody else\n");
  await field.press("Control+s");
  await panel().getByText("Your text is kept as /windows.txt.mine").waitFor();
  expect([site.file("windows.txt"), site.file("windows.txt.mine")]).toEqual(["somebody else\n", "mine\r\n"]);
  await button("Replace the file by my text").click();
  await expect.poll(() => site.file("windows.txt")).toBe("mine\r\n");
  await open("New file");
  await panel().getByRole("textbox", { name: "Path of the new file" }).fill("notes/new.md");
  await button("Create").click();
  await panel().getByText("The file is empty.").waitFor();
  expect(site.file("notes/new.md")).toBe("");
});

test("each line says which step wrote it, and leads there", async () => {
  await open("src/", "total.ts");
  await button("Who wrote what").click();
  const authors = panel().getByRole("button", { name: /^Step \d+, Agent/ });
  await expect.poll(() => authors.count()).toBe(2);
  expect(await authors.last().getAttribute("aria-label")).toContain("Command: echo");
  await authors.first().click();
  await page.locator("article.target").getByText("sed -i").waitFor();
  await button("Compare steps").click();
  await panel()
    .getByRole("row", { name: /more = 3/ })
    .waitFor();
  await panel().getByRole("combobox", { name: "To" }).selectOption({ index: 1 });
  await expect
    .poll(() =>
      panel()
        .getByRole("row", { name: /more = 3/ })
        .count(),
    )
    .toBe(0);
  await panel()
    .getByRole("row", { name: /total = 2/ })
    .waitFor();
  await expectGood(site, "compared steps");
  await button("Who wrote what").click();
  await authors.first().waitFor();
});

test("files in the state of a thread are listed and shown", async () => {
  const { thread_id: id } = await site.call("POST", "/threads");
  const input = { messages: [{ role: "user", content: "write" }] };
  await site.call("POST", `/threads/${id}/runs/wait`, { assistant_id: "inThread", input });
  await open();
  await page.goto(`${site.server.url}/#/t/${id}`);
  await button("/notes.md").click();
  await panel().getByRole("row", { name: "3 three" }).waitFor();
  expect(await button("Edit").count()).toBe(0);
});

test("axe finds nothing in the tree, in a file and in the editor, at 1400 and 360 pixels", async () => {
  for (const width of [1400, 360]) {
    await page.setViewportSize({ width, height: 800 });
    if (width === 360) await page.reload();
    if (!(await panel().isVisible())) await page.getByRole("button", { name: "Show work" }).click();
    await page.getByRole("tab", { name: "Files" }).click();
    await open();
    await button("src/").waitFor();
    await expectGood(site, `files at ${width}`);
    await open("page.html");
    await panel().getByText("Shown as text").waitFor();
    await expectGood(site, `a file at ${width}`);
    await button("Edit").click();
    await expectGood(site, `the editor at ${width}`);
    await button("Stop editing").click();
  }
});

test("where there are several agents, threads can stand below theirs", async () => {
  await page.setViewportSize({ width: 1400, height: 900 });
  await page.reload();
  const list = page.getByRole("navigation", { name: "Threads" });
  await list.getByRole("button", { name: "By agent" }).click();
  await list.getByRole("heading", { name: "agent", exact: true }).waitFor();
  await list.getByRole("button", { name: "By agent" }).click();
  await list.getByRole("heading", { name: "Today" }).waitFor();
});
