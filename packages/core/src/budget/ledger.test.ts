import { expect, test } from "vitest";
import { type Hold, Ledger, type Need, type Refusal } from "./ledger.ts";
import { limitsOf } from "./limits.ts";
import { NO_USAGE } from "./usage.ts";

function need(inputTokens: number, outputTokens = 10): Need {
  return { inputTokens, tokens: inputTokens + outputTokens, inputCost: 0, cost: 0 };
}

const used = (tokens: number) => ({ ...NO_USAGE, calls: 1, tokens });

function ledger(budget: object, parent?: Ledger, agentPath: string[] = [], namespace = ""): Ledger {
  return new Ledger({ parent, limits: limitsOf(budget), agentPath, namespace });
}

async function held(of: Ledger, wanted: Need): Promise<Hold> {
  const hold = await of.reserve(wanted);
  expect(hold).toHaveProperty("settle");
  return hold as Hold;
}

test("what a call used takes the namespace of what was reserved for it, once", async () => {
  const one = ledger({ maxTokens: 1000 });
  const hold = await held(one, need(500));
  hold.settle(used(120));
  hold.settle(used(120));
  hold.release();
  expect(one.used).toMatchObject({ calls: 1, tokens: 120 });
});

test("a call that failed costs nothing", async () => {
  const one = ledger({ maxSteps: 1 });
  (await held(one, need(500))).release();
  expect(one.used).toEqual(NO_USAGE);
  await held(one, need(500));
});

test("a call whose input alone does not fit is refused before it is made", async () => {
  const one = ledger({ maxTokens: 1000 });
  (await held(one, need(100))).settle(used(600));
  expect(await one.reserve(need(400))).toEqual({
    limit: "tokens",
    used: 600,
    allowed: 1000,
    needed: 400,
    owner: [],
  });
});

test("one refusal is the end for smaller calls, too", async () => {
  const one = ledger({ maxTokens: 1000 });
  expect(await one.reserve(need(2000))).toMatchObject({ limit: "tokens" });
  expect(await one.reserve(need(1))).toMatchObject({ limit: "tokens", needed: 1 });
});

test("calls at once wait for one another instead of using more together than is allowed", async () => {
  const one = ledger({ maxTokens: 1000 });
  const first = await held(one, need(400, 100));
  let second: Hold | Refusal | undefined;
  const waiting = one.reserve(need(400, 200)).then((result) => {
    second = result;
  });
  await Promise.resolve();
  expect(second).toBeUndefined();
  first.settle(used(300));
  await waiting;
  expect(second).toHaveProperty("settle");
});

test("a waiting call is refused when those before it used too much", async () => {
  const one = ledger({ maxTokens: 1000 });
  const first = await held(one, need(400, 100));
  const waiting = one.reserve(need(400, 200));
  first.settle(used(900));
  expect(await waiting).toMatchObject({ limit: "tokens", used: 900 });
});

test("a waiting call can be stopped", async () => {
  const one = ledger({ maxSteps: 1 });
  await held(one, need(1));
  const stop = new AbortController();
  const waiting = one.reserve(need(1), stop.signal);
  stop.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
});

test("of many calls at once exactly as many are made as there are steps", async () => {
  const one = ledger({ maxSteps: 7 });
  const results = await Promise.all(
    Array.from({ length: 32 }, async () => {
      const hold = await one.reserve(need(1));
      if (!("settle" in hold)) return "refused";
      await new Promise((resolve) => setTimeout(resolve, 1));
      hold.settle(used(1));
      return "made";
    }),
  );
  expect(results.filter((result) => result === "made")).toHaveLength(7);
  expect(one.used.calls).toBe(7);
});

test("a child is held to its own budget and charges those above it", async () => {
  const parent = ledger({ maxTokens: 1000 });
  const child = ledger({ maxSteps: 1 }, parent, ["researcher"], "tools:1");
  (await held(child, need(10))).settle(used(50));
  expect(await child.reserve(need(10))).toMatchObject({ limit: "steps", owner: ["researcher"] });
  expect(parent.used).toMatchObject({ calls: 1, tokens: 50 });
  expect(await child.reserve(need(10))).toMatchObject({ limit: "steps" });
  (await held(parent, need(10))).settle(used(60));
  expect(parent.agents).toMatchObject({ '["researcher"]': { tokens: 50 }, "[]": { tokens: 60 } });
});

test("what runs inside a task used is known by the task, also through a graph in between", async () => {
  const parent = ledger({});
  for (const [namespace, tokens] of [
    ["tools:1", 5],
    ["tools:1|node:2", 6],
    ["tools:11", 7],
  ] as const)
    (await held(ledger({}, parent, ["a"], namespace), need(1))).settle(used(tokens));
  expect(parent.takeInside("tools:1")?.agents).toMatchObject({ '["a"]': { tokens: 11, calls: 2 } });
  expect(parent.takeInside("tools:1")).toBeUndefined();
  expect(parent.takeInside("tools:11")?.agents).toMatchObject({ '["a"]': { tokens: 7 } });
});

test("what a thread remembers counts once, here and above", async () => {
  const parent = ledger({});
  const child = ledger({}, parent, ["a"], "tools:1");
  const stored = { agents: { '["a"]': used(40) }, seconds: 3 };
  child.adopt(stored);
  child.adopt(stored);
  expect([child.used.tokens, parent.used.tokens]).toEqual([40, 40]);
  expect(child.seconds).toBeGreaterThanOrEqual(3);
});

test("time that was used before counts", async () => {
  const one = ledger({ maxSeconds: 60 });
  one.adopt({ agents: {}, seconds: 60 });
  expect(await one.reserve(need(1))).toMatchObject({ limit: "seconds", allowed: 60 });
});

test.each<[string, unknown, RegExp]>([
  ["a negative number", { maxTokens: -1 }, /maxTokens/],
  ["NaN", { maxCost: Number.NaN }, /maxCost/],
  ["text", { maxSteps: "5" }, /maxSteps/],
  ["an unknown key", { maxTime: 5 }, /maxTime.*maxSeconds/],
  ["a number", 5, /must be an object/],
  ["a list", [], /must be an object/],
  ["prices that are none", { prices: 5 }, /prices/],
  ["a price without output", { prices: { x: { input: 1 } } }, /'x'/],
  ["a negative price", { prices: { x: { input: 1, output: -1 } } }, /'x'/],
  ["a price with an unknown part", { prices: { x: { input: 1, output: 1, outputs: 1 } } }, /'x'/],
])("%s is no budget", (_, budget, words) => {
  expect(() => limitsOf(budget)).toThrow(words);
});

test("absent limits are none", () => {
  expect(limitsOf(null)).toBeUndefined();
  expect(limitsOf({ maxTokens: null, prices: null })).toMatchObject({ maxTokens: Infinity, prices: {} });
});
