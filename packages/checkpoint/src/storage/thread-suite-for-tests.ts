/** Tests of the facts in a list of threads. */
import { expect, it } from "vitest";
import { putStep, uuid } from "./content-for-tests.ts";
import type { ThreadFacts, ThreadStorage } from "./storage.ts";

export function threadSuite(storage: () => ThreadStorage): void {
  it("keeps facts of a thread: the first prompt once, the rest as last told", async () => {
    const step = { threadId: "t", now: 10 };
    const facts = { firstPrompt: "hello", messageCount: 1, model: "m1", cwd: "/w" };
    await putStep(storage(), { ...step, id: uuid(1), facts });
    await putStep(storage(), {
      ...step,
      id: uuid(2),
      now: 20,
      facts: { firstPrompt: "again", messageCount: 4 },
    });
    await putStep(storage(), { ...step, id: uuid(3), now: 30 });
    await storage().setFacts("t", { title: "Title", model: "m2" });
    expect(await storage().thread("t")).toEqual({
      threadId: "t",
      title: "Title",
      firstPrompt: "hello",
      messageCount: 4,
      checkpointCount: 3,
      model: "m2",
      cwd: "/w",
      createdAt: 10,
      updatedAt: 30,
    });
    expect(await storage().listThreads({ limit: 5 })).toEqual([await storage().thread("t")]);
    expect(await storage().thread("none")).toBeUndefined();
  });

  it("lists threads newest first, page by page, of one directory if asked", async () => {
    for (let n = 0; n < 7; n++) {
      const facts = { cwd: n % 2 === 0 ? "/even" : "/odd" };
      await putStep(storage(), { threadId: `t${6 - n}`, id: uuid(1), now: 100 + Math.floor(n / 3), facts });
    }
    const names = ["t0", "t1", "t2", "t3", "t4", "t5", "t6"];
    expect(await pages(storage(), 3)).toEqual(names);
    expect(await pages(storage(), 7)).toEqual(names);
    expect(await pages(storage(), 1, "/odd")).toEqual(["t1", "t3", "t5"]);
    expect(await pages(storage(), 5, "/none")).toEqual([]);
  });

  it("tells of a thread that is not there that it is not there", async () => {
    await expect(storage().setFacts("none", { title: "x" })).rejects.toMatchObject({
      code: "THREAD_NOT_FOUND",
    });
    expect(await storage().epochOf("none")).toBe(0);
  });
}

async function pages(storage: ThreadStorage, limit: number, cwd?: string): Promise<string[]> {
  const names: string[] = [];
  let after: ThreadFacts | undefined;
  for (;;) {
    const page = await storage.listThreads({ limit, after, cwd });
    names.push(...page.map(({ threadId }) => threadId));
    after = page.at(-1);
    if (page.length < limit) return names;
  }
}
