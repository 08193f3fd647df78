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
    ...{
      closePanel() {},
      changed() {},
      working: () => () => {},
      replay() {},
      setText() {},
      copy() {},
      leave() {},
      changeModel: async () => {},
    },
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
  const { say, said, shown, session } = await opened();
  expect(await say("/fork")).toBe("There is nothing to copy yet.");
  await say("What is here?");
  const before = session.threadId.slice(0, 8);
  await say("/fork");
  shown.at(-1)?.handle("\r");
  await until(() => said.join().includes(`Back to the original (${before}): /resume`));
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

test("files alone go back, messages alone go back, and a copy begins at an earlier moment", async () => {
  const { say, said, shown, session, hasReport } = await opened();
  const pick = (part: number): void => {
    shown.at(-1)?.handle("\r");
    for (let n = 0; n < part; n += 1) shown.at(-1)?.handle("\x1b[B");
    shown.at(-1)?.handle("\r");
  };
  const hears = (words: string) => until(() => said.join("\n").includes(words));
  await say("What is here?");
  await say("Summarise this project in report.md");
  const all = session.screen.main.messages.length;
  const toFirst = async (part: number) => {
    await say("/rewind");
    for (const letter of "after: What is") shown.at(-1)?.handle(letter);
    pick(part);
  };
  await toFirst(2);
  await hears("The files are back. The conversation goes on.");
  expect(said.join("\n")).toContain("The conversation stays. Files:");
  expect(said.join("\n")).toContain("+++ /dev/null\n@@ -1,");
  expect([await hasReport(), session.screen.main.messages.length]).toEqual([false, all]);
  await say("Summarise this project in report.md");
  expect(await hasReport()).toBe(true);
  await toFirst(1);
  await hears("Undone. Files are as before.");
  expect([await hasReport(), session.screen.main.messages.length < all]).toEqual([true, true]);
  const { threadId } = session;
  await say("/fork");
  shown.at(-1)?.handle("\x1b[B");
  shown.at(-1)?.handle("\r");
  await hears("You are in a copy now");
  expect(session.threadId).not.toBe(threadId);
  expect(session.screen.main.messages.length).toBeGreaterThan(0);
});

test("a thread is named, tokens are listed by source and by agent, and models are offered", async () => {
  const { say, said, shown, session } = await opened();
  expect(await say("/title")).toBe("There is nothing to name yet.");
  expect(await say("/cost")).toBe("No tokens were used yet.");
  await say("What is here?");
  expect(await say("/title")).toContain("This thread is named: What is here?");
  expect(await say("/title \x1b[31mMy  name")).not.toContain("\x1b");
  const { threads } = await session.place.local!.threads.list();
  expect(threads[0]?.title).toContain("My");
  const context = await say("/context");
  for (const source of ["instructions", "tools", "memory files", "messages of yours"])
    expect(context).toMatch(new RegExp(`${source} +[\\d,]+`));
  await say("/model");
  expect(said.join()).toContain("Looking for models…");
  expect(shown.at(-1)?.rows(100, 30).join("\n")).toContain("❯ offline  in use");
});
