/** Threads that are removed without a request. */
import { say } from "deepwright/testing";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { agentOf, begin, OWNER, openSite, userSays } from "../service-for-tests.ts";

/** Also notes when threads are to go; `shorten` has them go now. */
async function openWatchedSite({ shorten }: { readonly shorten: boolean }) {
  const site = await openSite({ agent: agentOf(() => say("hi")).agent }, { scanInterval: 0.05 });
  const { threads } = site.records;
  const put = threads.put.bind(threads);
  const dates: (number | undefined)[] = [];
  threads.put = (owner, thread, options) => {
    dates.push(options.expiresAt);
    const soon = shorten && options.expiresAt !== undefined ? { expiresAt: Date.now() + 300 } : {};
    return put(owner, thread, { ...options, ...soon });
  };
  return { ...site, dates };
}

test.each(["keep", "complete", "continue"] as const)(
  "the thread of a run with on_completion %s is kept, and can be gone on with",
  async (on_completion) => {
    const site = await openWatchedSite({ shorten: true });
    const run = await begin(site, undefined, { input: userSays("hello"), on_completion });
    await site.runs.wait(OWNER, run.run_id);
    await new Promise((go) => setTimeout(go, 600));
    const again = await begin(site, run.thread_id, { input: userSays("again") });
    await site.runs.wait(OWNER, again.run_id);
    expect(site.dates).toEqual([undefined]);
    const thread = await site.records.threads.get(OWNER, run.thread_id);
    expect(thread?.values?.messages).toHaveLength(4);
  },
);

test.each([undefined, "delete"] as const)(
  "the thread of a run with on_completion %s goes, also when nobody saw its end",
  async (on_completion) => {
    const site = await openWatchedSite({ shorten: false });
    const run = await begin(site, undefined, { input: userSays("hello"), on_completion });
    expect(site.dates).toEqual([expect.any(Number)]);
    await site.runs.wait(OWNER, run.run_id);
    await site.records.threads.patch(OWNER, run.thread_id, { expiresAt: Date.now() });
    await until(async () => (await site.records.threads.get(OWNER, run.thread_id)) === undefined);
  },
);
