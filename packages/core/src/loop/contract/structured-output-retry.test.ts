/** Structured output by a tool: answers that cannot be accepted. */
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver } from "@langchain/langgraph";
import { piiMiddleware, toolStrategy } from "langchain";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { callTool, fault, type ScriptedTurn, say, scriptedModel } from "../../testing/index.ts";

const ask = () => ({ messages: [new HumanMessage("What is the weather?")] });
const Weather = z.object({ city: z.string(), degrees: z.number() });
const weather = { city: "Bern", degrees: 21 };
const look = tool(() => "21 degrees", { name: "look", description: "Looks.", schema: z.object({}) });
const answerTool = (tools: readonly unknown[]) =>
  (tools.at(-1) as { function: { name: string } }).function.name;

/** A model that gives these turns in order; each is told the name of the answer tool. */
const turns = (...script: ((answer: string) => ScriptedTurn)[]) =>
  scriptedModel(({ tools, turn }) => {
    const next = script[Math.min(turn, script.length - 1)] as (answer: string) => ScriptedTurn;
    return next(answerTool(tools));
  });
const good = (answer: string) => callTool(answer, weather);
const bad = (answer: string) => callTool(answer, { city: "Bern", degrees: "warm" });
const results = (messages: readonly unknown[]) =>
  messages.filter(ToolMessage.isInstance).map((message) => [message.text, message.status] as const);

describe("a structured answer that does not fit", () => {
  test("goes back with the reason, and the next one counts", async () => {
    const model = turns(bad, good);
    const result = await createDeepAgent({ model, responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    const [refusal, accepted] = results(result.messages);
    expect(refusal?.[0]).toMatch(/does not fit its schema: degrees: .*number.*Correct it and answer again/s);
    expect(refusal?.[1]).toBe("error");
    expect(accepted?.[0]).toBe(JSON.stringify(weather));
    expect(model.violations).toEqual([]);
  });

  test("three times in a row is an error", async () => {
    const model = turns(bad);
    await expect(createDeepAgent({ model, responseFormat: Weather }).invoke(ask())).rejects.toMatchObject({
      name: "DeepwrightError",
      code: "STRUCTURED_OUTPUT_FAILED",
      message: expect.stringMatching(/3 attempts.*degrees/),
    });
    expect(model.callCount).toBe(3);
  });

  test("is counted anew after work in between", async () => {
    const model = turns(bad, bad, () => callTool("look"), bad, bad, good);
    const result = await createDeepAgent({ model, tools: [look], responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    expect(model.callCount).toBe(6);
  });

  test("is counted across a pause of the thread", async () => {
    const checkpointer = new MemorySaver();
    const thread = { configurable: { thread_id: "t" } };
    const first = createDeepAgent({ model: turns(bad), responseFormat: Weather, checkpointer });
    await first.invoke(ask(), { ...thread, interruptAfter: ["tools"] });
    const model = turns(bad);
    const second = createDeepAgent({ model, responseFormat: Weather, checkpointer });
    await expect(second.invoke(null, thread)).rejects.toMatchObject({ code: "STRUCTURED_OUTPUT_FAILED" });
    expect(model.callCount).toBe(2);
  });

  test("leaves the thread usable after the error", async () => {
    const checkpointer = new MemorySaver();
    const thread = { configurable: { thread_id: "t" } };
    const agent = createDeepAgent({
      model: turns(bad, bad, bad, good),
      responseFormat: Weather,
      checkpointer,
    });
    await expect(agent.invoke(ask(), thread)).rejects.toMatchObject({ code: "STRUCTURED_OUTPUT_FAILED" });
    expect((await agent.invoke(ask(), thread)).structuredResponse).toEqual(weather);
  });

  test("may be no JSON at all", async () => {
    const model = turns((answer) => fault.malformedCall({ name: answer, args: '{"city": ' }), good);
    const result = await createDeepAgent({ model, responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    expect(results(result.messages)[0]?.[1]).toBe("error");
  });

  test("cut off at the output limit is not taken for a whole one", async () => {
    const model = turns((answer) => fault.length(good(answer)), good);
    const result = await createDeepAgent({ model, responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    expect(results(result.messages)[0]?.[0]).toMatch(/cut off at the model's output limit/);
    expect(model.callCount).toBe(2);
  });

  test("keeps its reason when a hook rewrites the message around it", async () => {
    const model = turns((answer) => ({ ...bad(answer), text: "As ann@example.com asked:" }));
    const middleware = [piiMiddleware("email", { applyToOutput: true })];
    const agent = createDeepAgent({ model, responseFormat: Weather, middleware });
    await expect(agent.invoke(ask())).rejects.toMatchObject({ code: "STRUCTURED_OUTPUT_FAILED" });
    expect(model.callCount).toBe(3);
  });
});

describe("an answer in words", () => {
  test("goes back, naming the tool to answer with", async () => {
    const model = turns(() => say("It is warm."), good);
    const result = await createDeepAgent({ model, responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    const complaint = result.messages.filter(HumanMessage.isInstance)[1];
    expect(complaint?.text).toContain(answerTool(model.calls[0]?.tools ?? []));
  });

  test("three times in a row is an error", async () => {
    const model = turns(() => say("It is warm."));
    await expect(createDeepAgent({ model, responseFormat: Weather }).invoke(ask())).rejects.toMatchObject({
      code: "STRUCTURED_OUTPUT_FAILED",
    });
    expect(model.callCount).toBe(3);
  });

  test("that stopped for a reason of its own is that outcome", async () => {
    const agent = createDeepAgent({ model: scriptedModel([fault.refusal()]), responseFormat: Weather });
    const result = await agent.invoke(ask());
    expect(result.outcome.kind).toBe("refusal");
    expect(result.structuredResponse).toBeUndefined();
  });
});

describe("an answer beside other calls", () => {
  test("is refused with a reason while the others run", async () => {
    const model = turns(
      (answer) => ({
        toolCalls: [
          { name: "look", id: "l" },
          { name: answer, args: weather, id: "a" },
        ],
      }),
      good,
    );
    const result = await createDeepAgent({ model, tools: [look], responseFormat: Weather }).invoke(ask());
    expect(result.structuredResponse).toEqual(weather);
    expect(results(result.messages).slice(0, 2)).toEqual([
      ["21 degrees", "success"],
      [expect.stringMatching(/Give the final answer alone, after the results/), "error"],
    ]);
  });
});

describe("handleError of toolStrategy", () => {
  type Handle = NonNullable<Parameters<typeof toolStrategy>[1]>["handleError"];
  const run = (handleError: Handle, model = turns(bad, good)) =>
    createDeepAgent({ model, responseFormat: toolStrategy(Weather, { handleError }) }).invoke(ask());

  test("true: the reason", async () => {
    expect(results((await run(true)).messages)[0]?.[0]).toMatch(/does not fit its schema/);
  });

  test("a string: these words", async () => {
    expect(results((await run("Numbers, please.")).messages)[0]?.[0]).toMatch(/Numbers, please\.$/);
  });

  test("a function: its words, given the error", async () => {
    const seen: Error[] = [];
    const handle = (error: Error) => {
      seen.push(error);
      return "Try again.";
    };
    expect(results((await run(handle as Handle)).messages)[0]?.[0]).toMatch(/Try again\.$/);
    expect(seen[0]).toBeInstanceOf(Error);
    expect(seen[0]?.message).toMatch(/does not fit its schema/);
  });

  test("a function that throws rejects the run with its error", async () => {
    const handle = () => {
      throw new RangeError("enough");
    };
    await expect(run(handle as Handle)).rejects.toThrow(RangeError);
  });

  test("false: an error at once", async () => {
    const model = turns(bad);
    await expect(run(false, model)).rejects.toMatchObject({ code: "STRUCTURED_OUTPUT_FAILED" });
    expect(model.callCount).toBe(1);
  });
});
