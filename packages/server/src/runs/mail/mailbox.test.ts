/** Mail that nobody could answer. */
import { say } from "deepwright/testing";
import { describe, expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { agentOf, begin, OWNER, openSite, type Site, textsOf, userSays } from "../service-for-tests.ts";
import { newThread } from "../thread-of-run.ts";
import { MAIL_KINDS } from "./steering.ts";

const repeating = () => agentOf(({ messages }) => say(`re: ${messages.at(-1)?.text}`)).agent;

async function openWithThread(): Promise<Site> {
  const site = await openSite({ agent: repeating() });
  await site.records.threads.put(OWNER, newThread(OWNER, "t1", {}), { ifExists: "raise" });
  return site;
}

const waiting = ({ records }: Site) => records.mail.waiting("t1", MAIL_KINDS);

/** Long enough for several rounds of the housekeeping. */
const rounds = () => new Promise((go) => setTimeout(go, 800));

describe("a steer", () => {
  test("on a thread that has had no run is refused, as often as it comes, and nothing is kept of it", async () => {
    const site = await openWithThread();
    const send = () => site.runs.steer(OWNER, "t1", { id: "m1", content: "hi" });
    await expect(send()).rejects.toMatchObject({ code: "INVALID_REQUEST", status: 400 });
    await expect(send()).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    expect(await waiting(site)).toEqual([]);
  });

  test("for an assistant that is not there is refused, and its id can be sent again to one that is", async () => {
    const site = await openWithThread();
    const send = (assistantId: string) =>
      site.runs.steer(OWNER, "t1", { id: "m1", content: "hi", assistantId });
    await expect(send("nobody")).rejects.toMatchObject({ code: "NOT_FOUND", status: 404 });
    expect(await waiting(site)).toEqual([]);
    const { run_id: runId } = await send("agent");
    await site.runs.wait(OWNER, runId as string);
    expect(await textsOf(site, "t1")).toEqual(["hi", "re: hi"]);
  });

  test("for an assistant that is not there is refused also beside a run that has not ended, which goes on", async () => {
    const site = await openSite({ agent: repeating() }, { works: false });
    const run = await begin(site, "t1", { input: userSays("a") });
    await expect(site.runs.steer(OWNER, "t1", { content: "b", assistantId: "nobody" })).rejects.toMatchObject(
      { code: "NOT_FOUND" },
    );
    expect(await site.runs.steer(OWNER, "t1", { content: "c" })).toMatchObject({ run_id: run.run_id });
    await site.runs.open();
    await site.runs.wait(OWNER, run.run_id);
    expect(await textsOf(site, "t1")).toEqual(["a", "c", "re: c"]);
  });
});

test("what was done in the background for a thread that has had no run is told in its first", async () => {
  const site = await openWithThread();
  expect(await site.runs.deliver(OWNER, "t1", { id: "d1", message: "it is done" })).toBe(true);
  await rounds();
  expect(site.errors).toEqual([]);
  const run = await begin(site, "t1", { input: userSays("a") });
  await site.runs.wait(OWNER, run.run_id);
  await until(async () => (await waiting(site)).length === 0);
  expect(await textsOf(site, "t1")).toEqual(["it is done", "a", "re: a"]);
});
