import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { sized } from "../../../../scripts/test-size.ts";
import { createDeepAgent } from "../agent.ts";
import { createPromptCachingMiddleware } from "../middleware/prompt-caching.ts";
import { firstDifference, prefixShare, requestBytes } from "../testing/request-prefix.ts";
import {
  type ProviderServer,
  providerServer,
  type SeenRequest,
} from "./fixtures/provider-server-for-tests.ts";
import { APIS, modelWithWindow } from "./fixtures/provider-server-models-for-tests.ts";
import type { Api } from "./fixtures/provider-server-read-for-tests.ts";
import { fail, isSummary, type LongWork, longWork, look } from "./fixtures/provider-server-work-for-tests.ts";

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** All turns of the work; each part of it by an agent and a client that know nothing but what was stored. */
async function run(api: Api, work: LongWork, window: number): Promise<ProviderServer> {
  const running = await providerServer({ answer: longWork(work), window });
  server = running;
  const checkpointer = new MemorySaver();
  for (let part = 0; part < work.turns / work.rest; part += 1) {
    const agent = createDeepAgent({
      model: modelWithWindow(api, running.url, window),
      tools: [look, fail],
      checkpointer,
      middleware: [createPromptCachingMiddleware({ promptCacheKey: true })],
    });
    const { messages } = await agent.invoke(
      { messages: [new HumanMessage(`Part ${part}: count the valves.`)] },
      // One checkpoint for a part: what is tested here is not the saver.
      { configurable: { thread_id: "long" }, durability: "exit" },
    );
    expect(messages.at(-1)?.text).toMatch(new RegExp(`^Report ${(part + 1) * work.rest}:`));
  }
  return running;
}

interface Break {
  readonly before: SeenRequest;
  readonly after: SeenRequest;
}

/** Requests of the agent that were answered, and where one does not extend the one before. */
function agentRequests({ requests }: ProviderServer): { asked: SeenRequest[]; breaks: Break[] } {
  const asked = requests.filter((request) => request.status === 200 && !isSummary(request));
  const breaks = asked.flatMap((after, index): Break[] => {
    const before = asked[index - 1];
    return before !== undefined && firstDifference(before.body, after.body) ? [{ before, after }] : [];
  });
  return { asked, breaks };
}

/** Turns of long work. In the short form each says more, so that as much is said. */
const TURNS = sized(180, 300);

describe("hundreds of turns with real clients", () => {
  test.each(APIS)(
    "%s: at least three compactions, one after a refusal, and no other refusal",
    async (api) => {
      const window = 15_000;
      const seen = await run(
        api,
        { turns: TURNS, rest: TURNS / 6, size: sized(120, 60), overflowOver: 11_500 },
        window,
      );
      const { asked, breaks } = agentRequests(seen);
      expect(seen.refusals).toEqual([]);
      expect(seen.overflows).toBe(0);
      expect(seen.requests.filter(({ status }) => status !== 200)).toHaveLength(1);
      expect(asked).toHaveLength(TURNS);
      expect(breaks.length).toBeGreaterThanOrEqual(3);
      for (const { before, after } of breaks) {
        expect(firstDifference(before.body, after.body)?.part).toMatch(/^message 0 /);
        expect(after.counted.total).toBeLessThan(before.counted.total / 2);
      }
      expect(Math.max(...seen.requests.map(({ counted }) => counted.total))).toBeLessThanOrEqual(window);
      expect(seen.cachedShare()).toBeGreaterThan(0.9);
    },
  );
});

test("with one compaction in three hundred turns 95 % of all bytes sent were a cached prefix", async () => {
  const seen = await run("anthropic", { turns: 300, rest: 60, size: 40 }, 28_000);
  const { asked, breaks } = agentRequests(seen);
  expect(seen.refusals).toEqual([]);
  expect(seen.requests.filter(({ status }) => status !== 200)).toEqual([]);
  expect(breaks).toHaveLength(1);
  const bodies = asked.map(({ body }) => body);
  const ofAgent = bodies.reduce((sum, body) => sum + requestBytes(body), 0);
  const all = seen.requests.reduce((sum, { body }) => sum + requestBytes(body), 0);
  expect((prefixShare(bodies) * ofAgent) / all).toBeGreaterThan(0.95);
  expect(seen.cachedShare()).toBeGreaterThan(0.95);
});
