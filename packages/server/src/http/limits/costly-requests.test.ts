/** Costly requests of one caller wait for each other, and not for those of other callers. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { startServer } from "../../server-for-tests.ts";
import { CostlyRequests, isCostly } from "./costly-requests.ts";

const NEVER_MS = 600_000;
const never = new AbortController().signal;
const REFUSED = expect.objectContaining({ code: "RATE_LIMITED", status: 429 });

/** Work that ends when the test says so. */
function work() {
  const state = { begun: false, end: () => {} };
  const promise = new Promise<void>((resolve) => {
    state.end = resolve;
  });
  const begin = () => {
    state.begun = true;
    return promise;
  };
  return Object.assign(state, { begin });
}

test("a caller has so many requests at work, the next waits, and the one after it is refused", async () => {
  const costly = new CostlyRequests({ atOnce: 2, waiting: 1 }, NEVER_MS);
  const [one, two, three, other] = [work(), work(), work(), work()];
  const done = [one, two, three].map(({ begin }) => costly.run("a", never, begin));
  await nextTurn();
  expect([one.begun, two.begun, three.begun]).toEqual([true, true, false]);
  await expect(costly.run("a", never, async () => {})).rejects.toEqual(REFUSED);
  const ofOther = costly.run("b", never, other.begin);
  expect(other.begun).toBe(true);
  one.end();
  await until(() => three.begun);
  for (const { end } of [two, three, other]) end();
  await Promise.all([...done, ofOther]);
  await expect(costly.run("a", never, async () => "served")).resolves.toBe("served");
});

test("the oldest waits least, and work that fails makes room too", async () => {
  const costly = new CostlyRequests({ atOnce: 1, waiting: 10 }, NEVER_MS);
  const order: number[] = [];
  const runs = [0, 1, 2].map((number) =>
    costly.run("a", never, async () => {
      order.push(number);
      throw new Error("broken");
    }),
  );
  expect((await Promise.allSettled(runs)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
  expect(order).toEqual([0, 1, 2]);
});

test("a client that leaves, or whose turn does not come in time, leaves the line", async () => {
  const first = work();
  const costly = new CostlyRequests({ atOnce: 1, waiting: 1 }, NEVER_MS);
  const running = costly.run("a", never, first.begin);
  const client = new AbortController();
  const waiting = costly.run("a", client.signal, async () => {});
  client.abort();
  await expect(waiting).rejects.toEqual(REFUSED);
  const next = costly.run("a", never, async () => "served");
  first.end();
  await running;
  await expect(next).resolves.toBe("served");

  const impatient = new CostlyRequests({ atOnce: 1, waiting: 1 }, 1);
  const second = work();
  const atWork = impatient.run("a", never, second.begin);
  await expect(impatient.run("a", never, async () => {})).rejects.toEqual(REFUSED);
  second.end();
  await atWork;
});

test("beside another caller a slot rests before the next request", async () => {
  const costly = new CostlyRequests({ atOnce: 1, waiting: 1 }, NEVER_MS);
  const takesAWhile = async () => {
    for (let turns = 0; turns < 5_000; turns += 1) await nextTurn();
  };
  costly.seen("a");
  await costly.run("a", never, takesAWhile);
  const alone = work();
  const served = costly.run("a", never, alone.begin);
  expect(alone.begun).toBe(true);
  alone.end();
  await served;

  costly.seen("b");
  costly.seen("a");
  await costly.run("a", never, takesAWhile);
  const beside = work();
  const waited = costly.run("a", never, beside.begin);
  expect(beside.begun).toBe(false);
  await until(() => beside.begun);
  beside.end();
  await waited;
});

test("routes that read much and large bodies are costly", () => {
  const ask = (headers: Record<string, string>, body?: string) =>
    new Request("http://localhost/", { method: "POST", headers, ...(body !== undefined && { body }) });
  expect(isCostly("threads.history", ask({}))).toBe(true);
  expect(isCostly("threads.create", ask({}))).toBe(false);
  expect(isCostly("threads.create", ask({ "content-length": "2" }, "{}"))).toBe(false);
  expect(isCostly("threads.create", ask({ "content-length": "2000000" }, "{}"))).toBe(true);
  expect(isCostly("threads.create", ask({}, "{}"))).toBe(true);
});

test("the server keeps the line, and serves others meanwhile", async () => {
  const server = await startServer({
    authenticate: (asked) => ({ identity: asked.headers.get("x-who") ?? "nobody" }),
    limits: { costly: { atOnce: 1, waiting: 1 } },
  });
  onTestFinished(() => server.close());
  const { threads } = server.app.storage.records;
  const { search } = threads;
  const hold = work();
  let searches = 0;
  threads.search = async (owner, ...rest) => {
    searches += 1;
    if (owner === "eve") await hold.begin();
    return search.call(threads, owner, ...rest);
  };
  const ask = (who: string) => server.call("POST", "/threads/search", {}, { "x-who": who });
  const first = ask("eve");
  await until(() => hold.begun);
  const rest = Array.from({ length: 3 }, () => ask("eve"));
  const refused = await Promise.any(rest.map(async (asked) => expectRefused(await asked)));
  expect(refused.headers.get("retry-after")).toBe("1");
  expect(searches).toBe(1);
  expect((await ask("bob")).status).toBe(200);
  hold.end();
  expect((await first).status).toBe(200);
  expect((await Promise.all(rest)).map(({ status }) => status).sort()).toEqual([200, 429, 429]);
});

function expectRefused<T extends { readonly status: number }>(answer: T): T {
  expect(answer.status).toBe(429);
  return answer;
}
