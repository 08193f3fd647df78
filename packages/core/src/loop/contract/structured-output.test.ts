import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { createMiddleware, providerStrategy, toolStrategy } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import * as z3 from "zod/v3";
import { createDeepAgent } from "../../agent.ts";
import { callTool, fault, say, scriptedModel } from "../../testing/index.ts";

const ask = (text = "What is the weather?") => ({ messages: [new HumanMessage(text)] });
const Weather = z.object({ city: z.string(), degrees: z.number() });
const weather = { city: "Bern", degrees: 21 };
const weatherJson = {
  title: "weather",
  description: "The weather.",
  type: "object" as const,
  properties: { city: { type: "string" }, degrees: { type: "number" } },
  required: ["city", "degrees"],
};
const look = tool(() => "21 degrees", { name: "look", description: "Looks.", schema: z.object({}) });

/** The name of the tool that stands for the answer: the last one bound. */
const answerTool = (tools: readonly unknown[]) =>
  (tools.at(-1) as { function: { name: string } }).function.name;
/** Answers every request by calling the answer tool with these arguments, one after the other. */
const answering = (...answers: unknown[]) =>
  scriptedModel(({ tools, turn }) =>
    callTool(answerTool(tools), answers[Math.min(turn, answers.length - 1)]),
  );

describe("by a tool that stands for the answer", () => {
  const formats = {
    "zod 4": Weather,
    "zod 3": z3.object({ city: z3.string(), degrees: z3.number() }),
    "a JSON schema": weatherJson,
    "toolStrategy of zod": toolStrategy(Weather),
    "toolStrategy of a JSON schema": toolStrategy(weatherJson),
  };

  test.each(Object.entries(formats))("%s: the answer is in structuredResponse", async (_, responseFormat) => {
    const model = answering(weather);
    const agent = createDeepAgent({ model, tools: [look], responseFormat });
    const result = await agent.invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    expect(result.outcome).toEqual({ kind: "done" });
    expect(model.callCount).toBe(1);
    expect(result.messages.map((m) => m.type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(result.messages.at(-1)?.text).toBe(`Returning structured response: ${JSON.stringify(weather)}`);
    expect(model.calls[0]?.options.tool_choice).toBe("any");
  });

  test("zod transforms and defaults are applied", async () => {
    const responseFormat = z.object({
      city: z.string().transform((city) => city.toUpperCase()),
      unit: z.string().default("C"),
    });
    const result = await createDeepAgent({ model: answering({ city: "Bern" }), responseFormat }).invoke(
      ask(),
    );
    expect(result.structuredResponse).toEqual({ city: "BERN", unit: "C" });
  });

  test("the schema's title and description are the tool's", async () => {
    const model = answering(weather);
    await createDeepAgent({ model, responseFormat: weatherJson }).invoke(ask());
    expect(model.calls[0]?.tools.at(-1)).toMatchObject({
      function: { name: "weather", description: "The weather.", parameters: weatherJson },
    });
  });

  test("other tools run first, and the model stays bound between turns", async () => {
    const model = scriptedModel(({ tools, turn }) =>
      turn < 3 ? callTool("look") : callTool(answerTool(tools), weather),
    );
    const result = await createDeepAgent({ model, tools: [look], responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    expect(result.messages.filter(ToolMessage.isInstance)).toHaveLength(4);
    expect(model.bindings).toHaveLength(1);
  });

  test("toolMessageContent is what the thread says", async () => {
    const responseFormat = toolStrategy(Weather, { toolMessageContent: "Noted." });
    const result = await createDeepAgent({ model: answering(weather), responseFormat }).invoke(ask());
    expect(result.messages.at(-1)?.text).toBe("Noted.");
  });

  describe("of several schemas", () => {
    const Refusal = z.object({ reason: z.string() });
    test.each([
      ["toolStrategy", toolStrategy([Weather, Refusal])],
      ["a list of schemas", [Weather, Refusal]],
    ])("%s: either answer is accepted", async (_, responseFormat) => {
      for (const [position, answer] of [
        [-2, weather],
        [-1, { reason: "no idea" }],
      ] as const) {
        const model = scriptedModel(({ tools }) =>
          callTool((tools.at(position) as { function: { name: string } }).function.name, answer),
        );
        const result = await createDeepAgent({ model, responseFormat: responseFormat as never }).invoke(
          ask(),
        );
        expect(result).toMatchObject({ structuredResponse: answer });
      }
    });

    test("two answers at once go back, each call answered", async () => {
      const model = scriptedModel(({ tools, turn }) => {
        const names = tools.slice(-2).map((one) => (one as { function: { name: string } }).function.name);
        const [first = "", second = ""] = names;
        return turn === 0
          ? {
              toolCalls: [
                { name: first, args: weather },
                { name: second, args: { reason: "x" } },
              ],
            }
          : callTool(first, weather);
      });
      const result = await createDeepAgent({
        model,
        responseFormat: toolStrategy([Weather, Refusal]),
      }).invoke(ask());
      expect(result.structuredResponse).toEqual(weather);
      const refusals = result.messages.filter(ToolMessage.isInstance).slice(0, 2);
      for (const refusal of refusals) expect(refusal.text).toMatch(/2 answers were given; exactly one/);
    });
  });

  test("the name of another tool is refused when the agent is built", () => {
    for (const title of ["look", "read_file"])
      expect(() => createDeepAgent({ tools: [look], responseFormat: { ...weatherJson, title } })).toThrow(
        expect.objectContaining({ code: "TOOL_NAME_COLLISION" }),
      );
    expect(() => createDeepAgent({ responseFormat: [weatherJson, weatherJson] })).toThrow(
      expect.objectContaining({ code: "TOOL_NAME_COLLISION" }),
    );
  });

  test.each([["a string"], [42], [[Weather, "x"]], [() => Weather]])("%j is no format", (responseFormat) => {
    expect(() => createDeepAgent({ responseFormat })).toThrow(
      expect.objectContaining({ code: "INVALID_OPTION", message: expect.stringContaining("responseFormat") }),
    );
  });
});

describe("by the provider", () => {
  const able = (script: Parameters<typeof scriptedModel>[0]) =>
    scriptedModel(script as never, { profile: { structuredOutput: true } });

  test.each([
    ["a schema, when the model can", Weather],
    ["a JSON schema, when the model can", weatherJson],
    ["providerStrategy", providerStrategy(Weather)],
    ["providerStrategy of a JSON schema", providerStrategy(weatherJson)],
  ])("%s: the text of the reply is the answer", async (_, responseFormat) => {
    const model = able([callTool("look"), say(JSON.stringify(weather))]);
    const result = await createDeepAgent({ model, tools: [look], responseFormat }).invoke(ask());
    expect(result).toMatchObject({ structuredResponse: weather, outcome: { kind: "done" } });
    const { options, tools } = model.calls[0] as (typeof model.calls)[0];
    expect(options.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { schema: { required: ["city", "degrees"] }, strict: true },
    });
    expect(options.tool_choice).toBeUndefined();
    expect(tools).toContain(look);
    expect(tools.some((one) => "function" in (one as object))).toBe(false);
    expect(model.bindings).toHaveLength(1);
  });

  test("providerStrategy is used whatever the model claims, toolStrategy too", async () => {
    const plain = scriptedModel([say(JSON.stringify(weather))]);
    await createDeepAgent({ model: plain, responseFormat: providerStrategy(Weather) }).invoke(ask());
    expect(plain.calls[0]?.options.response_format).toBeDefined();
    const model = scriptedModel(({ tools }) => callTool(answerTool(tools), weather), {
      profile: { structuredOutput: true },
    });
    const result = await createDeepAgent({ model, responseFormat: toolStrategy(Weather) }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
  });

  test("strict may be turned off", async () => {
    const model = able([say(JSON.stringify(weather))]);
    const responseFormat = providerStrategy({ schema: Weather, strict: false });
    await createDeepAgent({ model, responseFormat }).invoke(ask());
    expect(model.calls[0]?.options.response_format).toMatchObject({ json_schema: { strict: false } });
  });

  test("an answer that does not fit goes back with the reason", async () => {
    const model = able([say("It is warm."), say('{"city": "Bern"}'), say(JSON.stringify(weather))]);
    const result = await createDeepAgent({ model, responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    const complaints = result.messages.filter(HumanMessage.isInstance).slice(1);
    expect(complaints[0]?.text).toMatch(/does not fit its schema: the answer is not JSON/);
    expect(complaints[1]?.text).toMatch(/degrees/);
  });

  test("the third answer in a row that does not fit is an error", async () => {
    const model = able([say("no"), say("no"), say("no"), say("no")]);
    await expect(createDeepAgent({ model, responseFormat: Weather }).invoke(ask())).rejects.toMatchObject({
      code: "STRUCTURED_OUTPUT_FAILED",
    });
    expect(model.callCount).toBe(3);
  });

  test.each([
    ["length", fault.length('{"city": "Be')],
    ["content_filter", fault.contentFilter()],
    ["refusal", fault.refusal()],
  ])("a reply that stopped for %s is that outcome, and is not asked for again", async (kind, turn) => {
    const model = able([turn]);
    const result = await createDeepAgent({ model, responseFormat: Weather }).invoke(ask());
    expect(result.outcome.kind).toBe(kind);
    expect(result.structuredResponse).toBeUndefined();
  });

  test("a thinking block before the answer does not matter", async () => {
    const content = [
      { type: "thinking", thinking: "Hm.", signature: "s" },
      { type: "text", text: JSON.stringify(weather) },
    ];
    const model = able([{ content }]);
    const result = await createDeepAgent({ model, responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
  });
});

describe("around the answer", () => {
  /** Sends the first answer back. */
  const doubting = () => {
    let sent = false;
    return createMiddleware({
      name: "doubting",
      afterModel: {
        canJumpTo: ["model"],
        hook: () => {
          if (sent) return undefined;
          sent = true;
          return { jumpTo: "model", messages: [new HumanMessage("Are you sure?")] };
        },
      },
    });
  };

  test("afterModel hooks see it, and may change it", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: answering(weather),
      responseFormat: Weather,
      middleware: [
        createMiddleware({
          name: "changes",
          afterModel: (state) => {
            const { structuredResponse } = state as unknown as { structuredResponse: typeof weather };
            seen.push(structuredResponse);
            return { structuredResponse: { ...structuredResponse, degrees: 22 } } as never;
          },
          afterAgent: (state) =>
            void seen.push((state as { structuredResponse?: unknown }).structuredResponse),
        }),
      ],
    });
    const result = await agent.invoke(ask());
    expect(seen).toEqual([weather, { ...weather, degrees: 22 }]);
    expect(result.structuredResponse).toEqual({ ...weather, degrees: 22 });
  });

  test("an afterModel hook may send the model back all the same", async () => {
    const model = answering({ ...weather, degrees: 1000 }, weather);
    const agent = createDeepAgent({ model, responseFormat: Weather, middleware: [doubting()] });
    expect((await agent.invoke(ask())).structuredResponse).toEqual(weather);
  });

  test("an answer a hook did not accept does not stand in for the next one", async () => {
    const colder = { ...weather, degrees: 2 };
    const model = scriptedModel([say(JSON.stringify(weather)), say("Hm."), say(JSON.stringify(colder))], {
      profile: { structuredOutput: true },
    });
    const agent = createDeepAgent({ model, responseFormat: Weather, middleware: [doubting()] });
    expect((await agent.invoke(ask())).structuredResponse).toEqual(colder);
  });

  test("the answer of one run is not that of the next", async () => {
    const model = scriptedModel(({ tools, turn }) =>
      turn === 0 ? callTool(answerTool(tools), weather) : fault.contentFilter(),
    );
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model,
      responseFormat: Weather,
      checkpointer: new MemorySaver(),
      middleware: [
        createMiddleware({
          name: "looks",
          beforeAgent: (state) =>
            void seen.push((state as { structuredResponse?: unknown }).structuredResponse),
        }),
      ],
    });
    const thread = { configurable: { thread_id: "t" } };
    expect((await agent.invoke(ask(), thread)).structuredResponse).toEqual(weather);
    expect((await agent.invoke(ask("And now?"), thread)).structuredResponse).toBeUndefined();
    expect(seen).toEqual([undefined, undefined]);
  });

  test("a middleware may ask for a format of its own, bounded like any other", async () => {
    const asking = createMiddleware({
      name: "asking",
      wrapModelCall: (request, handler) =>
        handler({ ...request, responseFormat: toolStrategy(Weather) as never }),
    });
    const result = await createDeepAgent({ model: answering(weather), middleware: [asking] }).invoke(ask());
    expect(result).toMatchObject({ structuredResponse: weather });
    const model = answering({ city: 1 });
    await expect(createDeepAgent({ model, middleware: [asking] }).invoke(ask())).rejects.toMatchObject({
      code: "STRUCTURED_OUTPUT_FAILED",
    });
    expect(model.callCount).toBe(3);
  });

  test("it is streamed with the values and the updates", async () => {
    const agent = createDeepAgent({ model: answering(weather), responseFormat: Weather });
    const parts: [string, Record<string, any>][] = [];
    for await (const part of await agent.stream(ask(), { streamMode: ["values", "updates"] }))
      parts.push(part);
    expect(parts.find(([mode]) => mode === "updates")?.[1].model_request.structuredResponse).toEqual(weather);
    expect(parts.findLast(([mode]) => mode === "values")?.[1].structuredResponse).toEqual(weather);
    expect(parts.flatMap(([, data]) => data.messages ?? []).some(AIMessage.isInstance)).toBe(true);
  });
});
