/** Every listing has a byte budget for an answer, and what follows its `next` is everything once. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startServer, type TestServer } from "../../server-for-tests.ts";

const KB = 1024;
const PAGE = 64 * KB;
const SOME = "x".repeat(20 * KB);

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ role: "api", limits: { pageBytes: PAGE, answerBytes: 2 * PAGE, crons: 10 } });
});
afterAll(() => server.close());

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, n) => make(n));

async function ok(method: string, path: string, body?: unknown): Promise<any> {
  const answer = await server.call(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
}

/** All pages of a listing that goes on by the header, each within its budget. */
async function paged(ask: (offset: number) => Promise<{ body: any; headers: Headers }>): Promise<any[][]> {
  const pages: any[][] = [];
  for (let next: string | null = "0"; next !== null; ) {
    const { body, headers } = await ask(Number(next));
    expect(JSON.stringify(body).length).toBeLessThan(PAGE + KB);
    pages.push(Array.isArray(body) ? body : body.items);
    next = headers.get("x-pagination-next");
  }
  return pages;
}

async function newThread(): Promise<string> {
  return (await ok("POST", "/threads", { metadata: { graph_id: "echo" } })).thread_id;
}

describe("a listing ends a page before it is too large, and says where the next one begins:", () => {
  test("threads", async () => {
    const ids = times(10, (n) => `thread-${n}`);
    for (const thread_id of ids)
      await ok("POST", "/threads", { thread_id, metadata: { kind: "large", SOME } });
    for (const more of [{ ids }, { metadata: { kind: "large" } }, { metadata: { SOME, list: {} } }]) {
      const query = { limit: 1000, sort_by: "thread_id", sort_order: "asc", ...more };
      const pages = await paged((offset) => server.call("POST", "/threads/search", { ...query, offset }));
      const found = pages.flat().map((thread) => thread.thread_id);
      if ("list" in (more.metadata ?? {})) expect(found).toEqual([]);
      else expect([found, pages.length]).toEqual([ids, 4]);
    }
  });

  test("assistants and their versions", async () => {
    for (const n of times(7, Number))
      await ok("POST", "/assistants", {
        graph_id: "echo",
        assistant_id: `a${n}`,
        metadata: { kind: 1, SOME },
      });
    for (const n of times(6, Number)) await ok("PATCH", "/assistants/a0", { metadata: { n } });
    const search = { metadata: { kind: 1 }, limit: 1000, sort_by: "assistant_id", sort_order: "asc" };
    const pages = await paged((offset) => server.call("POST", "/assistants/search", { ...search, offset }));
    expect(pages.flat().map((one) => one.assistant_id)).toEqual(times(7, (n) => `a${n}`));
    const versions = await paged((offset) =>
      server.call("POST", "/assistants/a0/versions", { limit: 1000, offset }),
    );
    expect(versions.flat().map((one) => one.version)).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(versions.length).toBe(3);
  });

  test("crons", async () => {
    const body = { schedule: "0 0 * * *", assistant_id: "echo", metadata: { kind: { a: 1 }, SOME } };
    const made = [];
    for (const _ of times(7, Number)) made.push((await ok("POST", "/runs/crons", body)).cron_id);
    for (const metadata of [undefined, { kind: { a: 1 } }]) {
      const search = { limit: 1000, metadata, sort_by: "created_at", sort_order: "asc" };
      const pages = await paged((offset) => server.call("POST", "/runs/crons/search", { ...search, offset }));
      expect(pages.flat().map((one) => one.cron_id)).toEqual(made);
      expect(pages.length).toBe(3);
    }
  });

  test("items of the store, also those that are found by their fields", async () => {
    const keys = times(7, (n) => `k${n}`);
    for (const key of keys)
      await ok("PUT", "/store/items", { namespace: ["large"], key, value: { kind: 1, SOME } });
    for (const filter of [undefined, { kind: 1 }]) {
      const search = { namespace_prefix: ["large"], limit: 1000, filter };
      const pages = await paged((offset) =>
        server.call("POST", "/store/items/search", { ...search, offset }),
      );
      expect(pages.flat().map((one) => one.key)).toEqual(keys);
      expect(pages.length).toBe(3);
    }
  });

  test("runs with all that was asked for; without that they are one page", async () => {
    const thread = await newThread();
    const input = { messages: [{ role: "user", content: SOME }] };
    const made = [];
    for (const _ of times(20, Number))
      made.unshift((await ok("POST", `/threads/${thread}/runs`, { assistant_id: "echo", input })).run_id);
    const list = (query: string) => (offset: number) =>
      server.call("GET", `/threads/${thread}/runs?limit=1000&offset=${offset}${query}`);
    const pages = await paged(list("&select=run_id&select=kwargs"));
    expect(pages.flat().map((run) => run.run_id)).toEqual(made);
    expect(pages.flat().every((run) => run.kwargs.input.messages[0].content === SOME)).toBe(true);
    expect(pages.length).toBe(7);
    expect((await paged(list(""))).map((page) => page.map((run) => run.run_id))).toEqual([made]);
    expect((await paged(list("&status=pending"))).flat()).toHaveLength(20);
  });

  test("states of a thread, which are read no further than the page goes", async () => {
    const thread = await newThread();
    const write = (values: object) => ok("POST", `/threads/${thread}/state`, { values });
    await write({ files: { "/large.txt": { content: SOME } } });
    for (const n of times(15, Number)) await write({ messages: [{ role: "user", content: `${n}` }] });
    const { saver } = server.app.storage;
    const all = [];
    for await (const { checkpoint } of saver.list({ configurable: { thread_id: thread } }))
      all.push(checkpoint.id);
    const { list } = saver;
    let built = 0;
    saver.list = async function* (...given) {
      for await (const tuple of list.apply(saver, given)) {
        built += 1;
        yield tuple;
      }
    };
    const found: string[] = [];
    const lengths: number[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      built = 0;
      const { body, headers } = await server.call("POST", `/threads/${thread}/history`, {
        limit: 100,
        before,
      });
      expect(JSON.stringify(body).length).toBeLessThan(PAGE + KB);
      expect(built).toBeLessThanOrEqual(body.length + 1);
      lengths.push(body.length);
      found.push(...body.map((state: any) => state.checkpoint.checkpoint_id));
      before = headers.get("x-pagination-next");
    }
    saver.list = list;
    expect(found).toEqual(all);
    expect(lengths.every((length) => length <= 3)).toBe(true);
  });

  test("files of a thread, and what changed in them", async () => {
    const thread = await newThread();
    const path = `/threads/${thread}/files`;
    const names = times(700, (n) => `/${"d".repeat(60)}/${String(n).padStart(3, "0")}.txt`);
    const write = (files: object) => ok("POST", `/threads/${thread}/state`, { values: { files } });
    await write({ "/first": { content: "1" } });
    const { checkpoint } = await ok("GET", `/threads/${thread}/state`);
    await write(Object.fromEntries(names.map((name) => [name, { content: `of ${name}` }])));
    const pages = async (address: string, cursor: string, key: "files" | "changes") => {
      const found: string[][] = [];
      for (let next: string | number | undefined = ""; next !== undefined; ) {
        const page: any = await ok(
          "GET",
          `${address}${next === "" ? "" : `&${cursor}=${encodeURIComponent(next)}`}`,
        );
        expect(JSON.stringify(page).length).toBeLessThan(PAGE + KB);
        found.push(page[key].map((file: { path: string }) => file.path));
        next = page.next;
      }
      return found;
    };
    const listed = await pages(`${path}?path=/${"d".repeat(60)}`, "after", "files");
    expect([listed.flat(), listed.length > 1]).toEqual([names, true]);
    const changed = await pages(`${path}/diff?from=${checkpoint.checkpoint_id}`, "skip", "changes");
    expect([changed.flat(), changed.length > 1]).toEqual([names, true]);
  });
});

describe("what is too large for an answer alone", () => {
  test("is refused with a hint, and can be read in parts", async () => {
    const thread = await newThread();
    const files = times(8, (n) => [`/${n}.txt`, { content: `${n}${SOME}` }]);
    await ok("POST", `/threads/${thread}/state`, { values: { files: Object.fromEntries(files) } });
    for (const [method, path] of [
      ["GET", "state"],
      ["POST", "history"],
    ] as const)
      expect(await server.call(method, `/threads/${thread}/${path}`)).toMatchObject({
        status: 413,
        body: { code: "TOO_LARGE", message: expect.stringContaining("one file at a time") },
      });
    expect((await server.call("GET", `/threads/${thread}`)).status).toBe(413);
    const search = { ids: [thread] };
    expect((await server.call("POST", "/threads/search", search)).status).toBe(413);
    expect(await ok("POST", "/threads/search", { ...search, select: ["thread_id"] })).toHaveLength(1);
    expect((await ok("GET", `/threads/${thread}/files`)).files).toHaveLength(8);
    expect(await ok("GET", `/threads/${thread}/files/content?path=/3.txt`)).toBe(`3${SOME}`);
  });

  test("is an error in what wait answers: the run itself has ended", async () => {
    const working = await startServer({ limits: { answerBytes: PAGE } });
    onTestFinished(() => working.close());
    const input = { messages: [{ role: "user", content: "y".repeat(PAGE) }] };
    const { body } = await working.call("POST", "/threads/t/runs/wait", {
      ...{ assistant_id: "echo", input, if_not_exists: "create" },
    });
    expect(body).toEqual({ __error__: expect.objectContaining({ error: "TOO_LARGE" }) });
    const [run] = (await working.call("GET", "/threads/t/runs")).body;
    expect(run.status).toBe("success");
  });

  test("counts as often as it is there, though it is stored once", async () => {
    const thread = await newThread();
    const messages = times(8, () => ({ role: "user", content: SOME }));
    await ok("POST", `/threads/${thread}/state`, { values: { messages } });
    expect((await server.call("GET", `/threads/${thread}/state`)).status).toBe(413);
  });
});

test("a file of 12 MB in 30 states comes one state at a time, and not as one answer of 372 MB", async () => {
  const large = await startServer({ role: "api" });
  onTestFinished(() => large.close());
  const { saver } = large.app.storage;
  await large.call("POST", "/threads", { thread_id: "t", metadata: { graph_id: "echo" } });
  const values = { files: { "/large.txt": { content: "0123456789abcdef".repeat((12 * KB * KB) / 16) } } };
  await large.call("POST", "/threads/t/state", { values });
  const config = { configurable: { thread_id: "t", checkpoint_ns: "" } };
  const { checkpoint, metadata } = (await saver.getTuple(config))!;
  for (const n of times(29, Number))
    await saver.put(config, { ...checkpoint, id: `${checkpoint.id}-${n}` }, metadata!);
  const ask = async (before?: string) => {
    const { body, headers } = await large.call("POST", "/threads/t/history", { limit: 30, before });
    expect(body.map((state: any) => state.values.files["/large.txt"].content.length)).toEqual([12 * KB * KB]);
    return headers.get("x-pagination-next");
  };
  const next = await ask();
  expect(await ask(next ?? "")).not.toBe(next);
});
