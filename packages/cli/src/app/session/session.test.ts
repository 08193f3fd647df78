import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { openLocal } from "./local-place.ts";
import { Session } from "./session.ts";

async function opened() {
  const directory = await mkdtemp(join(tmpdir(), "deepwright-app-"));
  const home = await mkdtemp(join(tmpdir(), "deepwright-app-home-"));
  const environment = { ...process.env, DEEPWRIGHT_HOME: home };
  const open = () => openLocal({ directory, model: "offline", mcp: false }, environment);
  const place = await open();
  onTestFinished(async () => {
    await place.close();
    for (const path of [directory, home]) await rm(path, { recursive: true, force: true });
  });
  const failures: string[] = [];
  const events = { onChange: () => {}, onEnd: () => {}, onFailure: (words: string) => failures.push(words) };
  return { open, place, directory, failures, session: new Session(place, directory, "ask", events), events };
}

test("a message is answered, a write waits for approval, and another session goes on with the thread", async () => {
  const { open, place, directory, session, failures, events } = await opened();
  await session.say("Summarise this project in report.md");
  await session.idle();
  expect(failures).toEqual([]);
  expect(session.isWaiting).toBe(true);
  const [question] = session.screen.interrupts;
  await place.close();
  const later = await open();
  onTestFinished(() => later.close());
  const other = new Session(later, directory, "ask", events);
  await other.open(session.threadId);
  expect(other.isWaiting).toBe(true);
  expect(other.screen.interrupts[0]?.id).toBe(question?.id);
  await other.answer({ [question?.id ?? ""]: { decisions: [{ type: "approve" }] } });
  await other.idle();
  expect(other.screen.run.status).toBe("success");
  expect(other.screen.main.messages.at(-1)?.text).not.toBe("");
  const { threads } = await later.local!.threads.list({ cwd: directory });
  expect(threads.map(({ threadId }) => threadId)).toEqual([session.threadId]);
});

test("an interrupted run leaves a thread that takes the next message", async () => {
  const { session, failures } = await opened();
  await session.say("Summarise this project in report.md");
  await until(() => session.screen.main.messages.length > 0);
  await session.interrupt();
  expect(session.isRunning).toBe(false);
  await session.say("Again");
  await session.idle();
  expect(failures).toEqual([]);
  expect(session.screen.main.messages.some(({ text }) => text === "Again")).toBe(true);
});

test("two apps in one directory do not end each other's sandbox", async () => {
  const { open, place } = await opened();
  const other = await open();
  onTestFinished(() => other.close());
  const ran = async ({ local }: typeof place) => local?.execute?.("echo there", new AbortController().signal);
  expect([await ran(place), await ran(other)]).toEqual(["there\n", "there\n"]);
  await other.close();
  expect(await ran(place)).toBe("there\n");
});
