/** Periodic work of any worker, when part of it fails. */
import { say } from "deepwright/testing";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { EVERYONE } from "../../records/records.ts";
import { agentOf, begin, OWNER, openSite, type Site, textsOf, userSays } from "../service-for-tests.ts";
import { newThread } from "../thread-of-run.ts";

const openFast = () =>
  openSite(
    { agent: agentOf(({ messages }) => say(`re: ${messages.at(-1)?.text}`)).agent },
    { scanInterval: 0.05 },
  );

async function putThread(
  { records }: Site,
  owner: string,
  threadId: string,
  expiresAt?: number,
): Promise<void> {
  const expires = expiresAt === undefined ? {} : { expiresAt };
  await records.threads.put(owner, newThread(owner, threadId, {}), { ifExists: "raise", ...expires });
}

const isGone = async ({ records }: Site, threadId: string) => !(await records.threads.isTaken(threadId));

test("mail on a thread that nobody can answer on keeps no thread of another caller", async () => {
  const site = await openFast();
  await putThread(site, "mallory", "m1");
  await site.records.mail.post("mallory", "m1", { id: "a", kind: "steer", message: "hi" });
  await putThread(site, OWNER, "t1", Date.now());
  await until(() => isGone(site, "t1"));
  expect(site.errors).toEqual([]);
});

test("a thread whose mail cannot be attended to is told of, and the others are seen to", async () => {
  const site = await openFast();
  for (const threadId of ["t1", "t2"])
    await site.runs.wait(OWNER, (await begin(site, threadId, { input: userSays("a") })).run_id);
  const { runs } = site.records;
  const list = runs.list.bind(runs);
  runs.list = async (owner, threadId, query) => {
    if (threadId === "t1") throw new Error("the row of t1 is broken");
    return list(owner, threadId, query);
  };
  for (const threadId of ["t1", "t2"])
    await site.records.mail.post(OWNER, threadId, { id: "m", kind: "steer", message: "b" });
  await putThread(site, OWNER, "t3", Date.now());
  await until(() => isGone(site, "t3"));
  await until(async () => (await textsOf(site, "t2")).includes("re: b"));
  await until(() => site.errors.length > 0);
  expect(String(site.errors[0])).toContain("the row of t1 is broken");
});

test("a thread whose time is over but cannot be removed waits, and those behind it go", async () => {
  const site = await openFast();
  const held = await site.saver.claimThread("t1", { mode: "refuse", ttl: 600 });
  const begun = Date.now();
  await putThread(site, OWNER, "t1", begun - 1_000);
  await putThread(site, OWNER, "t2", begun);
  await until(() => isGone(site, "t2"));
  await expect.poll(() => site.errors).toMatchObject([{ code: "THREAD_BUSY" }]);
  await held.release();
  expect(await isGone(site, "t1")).toBe(false);
  expect(await site.records.threads.get(OWNER, "t1")).toBeUndefined();
  await site.records.threads.patch(EVERYONE, "t1", { expiresAt: Date.now() });
  await until(() => isGone(site, "t1"));
});
