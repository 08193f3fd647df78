import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import type { Panel } from "../panels/panel.ts";
import { openLocal } from "../session/local-place.ts";
import { Session } from "../session/session.ts";
import { themeOf } from "../view/theme.ts";
import { allCommands } from "./all-commands.ts";
import { submit } from "./submit.ts";

async function opened() {
  const directory = await mkdtemp(join(tmpdir(), "deepwright-app-"));
  const home = await mkdtemp(join(tmpdir(), "deepwright-app-home-"));
  const place = await openLocal(
    { directory, model: "offline", mcp: false, mode: "accept-edits" },
    { ...process.env, DEEPWRIGHT_HOME: home },
  );
  onTestFinished(async () => {
    await place.close();
    for (const path of [directory, home]) await rm(path, { recursive: true, force: true });
  });
  const said: string[] = [];
  const shown: Panel[] = [];
  const events = { onChange: () => {}, onEnd: () => {}, onFailure: (words: string) => said.push(words) };
  const session = new Session(place, directory, "accept-edits", events);
  const host = {
    ...{ session, place, directory, theme: themeOf("dark", false), commands: allCommands },
    say: (...lines: string[]) => void said.push(...lines),
    show: (panel: Panel) => void shown.push(panel),
    confirm: async () => true,
    ...{ closePanel() {}, replay() {}, setText() {}, copy() {}, leave() {}, changeModel: async () => {} },
  };
  const say = async (text: string): Promise<string> => {
    said.length = 0;
    await submit(text, host).catch((error: Error) => said.push(error.message));
    await session.idle();
    return said.join("\n");
  };
  const hasReport = () =>
    access(join(directory, "report.md")).then(
      () => true,
      () => false,
    );
  return { session, shown, said, say, hasReport };
}

test("two turns are undone and restored one by one; after a new turn nothing is restored", async () => {
  const { say, hasReport, session } = await opened();
  await say("What is here?");
  const first = session.screen.main.messages.length;
  await say("Summarise this project in report.md");
  const both = session.screen.main.messages.length;
  expect(await hasReport()).toBe(true);
  expect(await say("/undo")).toContain("Undone. /redo restores it.");
  expect([await hasReport(), session.screen.main.messages.length]).toEqual([false, first]);
  expect(await say("/undo")).toContain("Undone.");
  expect(await say("/undo")).toBe("There is nothing to undo.");
  expect(await say("/redo")).toContain("Restored.");
  expect(session.screen.main.messages.length).toBe(first);
  expect(await say("/redo")).toContain("Restored.");
  expect([await hasReport(), session.screen.main.messages.length]).toEqual([true, both]);
  expect(await say("/redo")).toBe("There is nothing to redo.");
  await say("/undo");
  await say("What is here?");
  expect(await say("/redo")).toContain("the thread went on after the undo");
});

test("moments to go back to are named by what was said or done", async () => {
  const { say, shown } = await opened();
  expect(await say("/rewind")).toBe("There is nothing to go back to yet.");
  await say("Summarise this project in report.md");
  await say("/rewind");
  const rows = shown.at(-1)?.rows(100, 30).join("\n") ?? "";
  expect(rows).toContain("after: Summarise this project in report.md");
  expect(rows).not.toMatch(/loop|input/);
});

test("a copy says the way back, and an export does not replace a file", async () => {
  const { say, session } = await opened();
  expect(await say("/fork")).toBe("There is nothing to copy yet.");
  await say("What is here?");
  const before = session.threadId.slice(0, 8);
  expect(await say("/fork")).toContain(`Back to the original: deepwright -r ${before}`);
  for (const name of ["a.md", "a.html", "a.json"]) expect(await say(`/export ${name}`)).toBe(`Wrote ${name}`);
  expect(await say("/export a.md")).toBe("a.md is there already: /export other-name.md");
  expect(await say("/export none/a.md")).toMatch(/^There is no directory .*none\.$/);
});

test("another thread is named before it is shown", async () => {
  const { say, said, shown, session } = await opened();
  await say("What is here?");
  const before = session.threadId;
  await say("/clear");
  await say("/resume");
  shown.at(-1)?.handle("\r");
  await until(() => session.threadId === before);
  expect(said).toContain(`Thread ${before.slice(0, 8)}:`);
  expect(session.isEmpty).toBe(false);
});
