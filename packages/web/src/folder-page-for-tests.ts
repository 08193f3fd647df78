/** The page of a server whose agent works in a folder on disk and asks nobody. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LocalShellBackend } from "deepwright";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { openPage, type PageOptions, scriptedAgent, type TestPage, tell } from "./page-for-tests.ts";

export interface FolderPage extends TestPage {
  readonly folder: string;
  /** The text of a file on disk. */
  file(name: string): string;
}

type Folder = Readonly<Record<string, string | Buffer>>;

/** `more` has further options, for the folder. */
export async function openFolderPage(
  files: Folder,
  more: (folder: string) => PageOptions = () => ({}),
): Promise<FolderPage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "page-folder-")));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const { agents, ...rest } = more(folder);
  const backend = new LocalShellBackend({ rootDir: folder, virtualMode: true });
  const site = await openPage({
    agents: { agent: scriptedAgent({ backend, interruptOn: {} }), ...agents },
    restoreRoots: [folder],
    ...rest,
  });
  return {
    ...site,
    folder,
    file: (name) => readFileSync(join(folder, name), "utf8"),
    close: async () => {
      await site.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Nothing left for another origin, no script failed, and no policy was violated. */
export async function closeClean(site: TestPage | undefined): Promise<void> {
  expect(site?.foreign).toEqual([]);
  expect(site?.failures).toEqual([]);
  await site?.close();
}

/** Sends the message and waits until the agent has answered. */
export async function ask(page: Page, text: string): Promise<void> {
  const answers = page.getByRole("article", { name: "Agent" }).getByText(/^(?:Done:|You said:)/);
  const before = await answers.count();
  await tell(page, text);
  await answers.nth(before).waitFor();
  await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "detached" });
}
