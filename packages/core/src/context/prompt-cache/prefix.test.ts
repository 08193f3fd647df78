import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { scratchDirectory } from "../../loop/fixtures/processes.ts";
import { callTool, scriptedModel, type Turn } from "../../testing/index.ts";
import {
  type AnyRequest,
  explainPrefix,
  firstDifference,
  prefixShare,
} from "../../testing/request-prefix.ts";
import { type ProviderServer, providerServer } from "../fixtures/provider-server-for-tests.ts";
import { APIS } from "../fixtures/provider-server-models-for-tests.ts";
import { runPart, runPartInProcess } from "../fixtures/provider-server-process-for-tests.ts";
import { everydayWork, picture } from "../fixtures/provider-server-work-for-tests.ts";

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

function expectEachExtendsTheLast(requests: readonly AnyRequest[]): void {
  expect(requests).toHaveLength(30);
  requests.forEach((request, index) => {
    const previous = requests[index - 1];
    if (previous !== undefined && firstDifference(previous, request) !== undefined)
      throw new Error(`Request ${index}: ${explainPrefix(previous, request)}`);
  });
}

describe("thirty turns without a declared point", () => {
  test.each(APIS)("%s: the body of each request begins with the whole of the one before", async (api) => {
    server = await providerServer({ answer: ({ turn }) => everydayWork(turn) });
    const { url } = server;
    const directory = scratchDirectory();
    // Each part by an agent that knows nothing but what was stored, one of them in a process of its own.
    await runPart({ api, url, directory, words: "Begin." });
    await runPartInProcess({ api, url, directory, words: "Go on." });
    await runPart({ api, url, directory, words: "Finish." });
    expect(server.refusals).toEqual([]);
    expectEachExtendsTheLast(server.requests.map(({ body }) => body));
    // Of the first request nothing can have been cached.
    expect(prefixShare(server.requests.map(({ body }) => body))).toBeGreaterThan(0.85);
    expect(server.cachedShare()).toBeGreaterThan(0.85);
  });

  test("a scripted model sees the same", async () => {
    const turns = Array.from({ length: 30 }, (_, turn): Turn => {
      const { text, calls } = everydayWork(turn);
      return { ...(text ? { text } : {}), ...(calls ? { toolCalls: calls } : {}) };
    });
    const model = scriptedModel(turns);
    const agent = createDeepAgent({ model, tools: [picture], checkpointer: new MemorySaver() });
    for (const words of ["Begin.", "Go on.", "Finish."])
      await agent.invoke({ messages: [new HumanMessage(words)] }, { configurable: { thread_id: "one" } });
    expectEachExtendsTheLast(model.calls);
  });

  test("tools that come in another order are sent in the same", async () => {
    const names = ["zebra", "Ant", "bee_2", "bee_10", "picture"];
    const tools = names.map((name) => tool(() => "", { name, description: name, schema: z.object({}) }));
    const requests: AnyRequest[] = [];
    for (const given of [tools, tools.toReversed(), [...tools.slice(2), ...tools.slice(0, 2)]]) {
      const model = scriptedModel(["done"]);
      await createDeepAgent({ model, tools: given }).invoke({ messages: [new HumanMessage("Go.")] });
      requests.push(...model.calls);
    }
    const [first, ...others] = requests as [AnyRequest, ...AnyRequest[]];
    expect(others.map((other) => firstDifference(first, other))).toEqual([undefined, undefined]);
  });

  test("a prompt that changes is found, down to the byte", async () => {
    const model = scriptedModel([callTool("ls", { path: "/" }), "done"]);
    let turn = 0;
    const clock = {
      name: "clock",
      wrapModelCall: (request: { systemPrompt?: string }, handler: (request: never) => unknown) => {
        turn += 1;
        return handler({ ...request, systemPrompt: `It is turn ${turn}. Work.` } as never);
      },
    };
    await createDeepAgent({ model, middleware: [clock as never] }).invoke({ messages: ["Go." as never] });
    const [first, second] = model.calls as unknown as readonly [AnyRequest, AnyRequest];
    expect(firstDifference(first, second)).toMatchObject({
      part: "system",
      common: '"It is turn ',
      previous: '1. Work."',
      next: '2. Work."',
    });
  });
});
