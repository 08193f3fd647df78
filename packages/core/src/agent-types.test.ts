/** Types of an agent. Checked by `tsc`; vitest runs only what is not a type. */
import type { BaseMessage } from "@langchain/core/messages";
import { Annotation, type Command, type Interrupt, ReducedValue, StateSchema } from "@langchain/langgraph";
import {
  createMiddleware,
  providerStrategy,
  todoListMiddleware,
  toolCallLimitMiddleware,
  toolStrategy,
} from "langchain";
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import * as z3 from "zod/v3";
import { createDeepAgent } from "./agent.ts";
import type { FileData } from "./backends/backend.ts";
import type { Outcome } from "./loop/messages/outcome.ts";

/** Never called: only its type matters. */
type ResultOf<A extends { invoke: (...args: any[]) => any }> = A extends {
  invoke(input: any, options?: any): Promise<infer R>;
}
  ? R
  : never;

describe("the result of invoke", () => {
  test("has what every agent has", () => {
    const agent = createDeepAgent();
    type Result = ResultOf<typeof agent>;
    expectTypeOf<Result["messages"]>().toEqualTypeOf<BaseMessage[]>();
    expectTypeOf<Result["files"]>().toEqualTypeOf<Record<string, FileData>>();
    expectTypeOf<Result["todos"][number]["status"]>().toEqualTypeOf<
      "pending" | "in_progress" | "completed"
    >();
    expectTypeOf<Result["outcome"]>().toEqualTypeOf<Outcome>();
    expectTypeOf<Result["__interrupt__"]>().toEqualTypeOf<Interrupt[] | undefined>();
    expectTypeOf<Result>().not.toHaveProperty("structuredResponse");
  });

  test("has the keys of stateSchema, whatever its kind", () => {
    const zod = createDeepAgent({
      stateSchema: z.object({ depth: z.number().default(0), note: z.string().optional() }),
    });
    expectTypeOf<ResultOf<typeof zod>["depth"]>().toEqualTypeOf<number>();
    expectTypeOf<ResultOf<typeof zod>["note"]>().toEqualTypeOf<string | undefined>();
    const older = createDeepAgent({ stateSchema: z3.object({ depth: z3.number() }) });
    expectTypeOf<ResultOf<typeof older>["depth"]>().toEqualTypeOf<number>();
    const log = new ReducedValue(
      z.array(z.string()).default(() => []),
      {
        inputSchema: z.string(),
        reducer: (left, right) => [...left, right],
      },
    );
    const schema = createDeepAgent({ stateSchema: new StateSchema({ log, depth: z.number() }) });
    expectTypeOf<ResultOf<typeof schema>["log"]>().toEqualTypeOf<string[]>();
    expectTypeOf<ResultOf<typeof schema>["depth"]>().toEqualTypeOf<number>();
    const annotation = createDeepAgent({ stateSchema: Annotation.Root({ depth: Annotation<number> }) });
    expectTypeOf<ResultOf<typeof annotation>["depth"]>().toEqualTypeOf<number>();
    const empty = createDeepAgent({ stateSchema: z.object({}) });
    expectTypeOf<ResultOf<typeof empty>["messages"]>().toEqualTypeOf<BaseMessage[]>();
  });

  test("has the keys of every middleware's stateSchema, but not the private ones", () => {
    const counting = createMiddleware({
      name: "counting",
      stateSchema: z.object({ count: z.number().default(0), _hidden: z.string().default("") }),
    });
    const logging = createMiddleware({
      name: "logging",
      stateSchema: new StateSchema({ log: z.array(z.string()).default(() => []) }),
    });
    const silent = createMiddleware({ name: "silent" });
    const agent = createDeepAgent({
      stateSchema: z.object({ depth: z.number() }),
      middleware: [counting, silent, logging, { FilesystemMiddleware: false }],
    });
    type Result = ResultOf<typeof agent>;
    expectTypeOf<Result["count"]>().toEqualTypeOf<number>();
    expectTypeOf<Result["log"]>().toEqualTypeOf<string[]>();
    expectTypeOf<Result["depth"]>().toEqualTypeOf<number>();
    expectTypeOf<Result["messages"]>().toEqualTypeOf<BaseMessage[]>();
    expectTypeOf<Result>().not.toHaveProperty("_hidden");
  });

  test("has those of stock middlewares", () => {
    const agent = createDeepAgent({
      middleware: [toolCallLimitMiddleware({ runLimit: 3 }), todoListMiddleware()],
    });
    expectTypeOf<ResultOf<typeof agent>["runToolCallCount"]>().toEqualTypeOf<Record<string, number>>();
  });

  test("has the structured response", () => {
    const Weather = z.object({ city: z.string(), degrees: z.number() });
    type Weather = { city: string; degrees: number };
    const zod = createDeepAgent({ responseFormat: Weather });
    expectTypeOf<ResultOf<typeof zod>["structuredResponse"]>().toEqualTypeOf<Weather>();
    const defaulted = createDeepAgent({ responseFormat: z.object({ degrees: z.number().default(0) }) });
    expectTypeOf<ResultOf<typeof defaulted>["structuredResponse"]>().toEqualTypeOf<{ degrees: number }>();
    const byTool = createDeepAgent({ responseFormat: toolStrategy(Weather) });
    expectTypeOf<ResultOf<typeof byTool>["structuredResponse"]>().toEqualTypeOf<Weather>();
    const byProvider = createDeepAgent({ responseFormat: providerStrategy(Weather) });
    expectTypeOf<ResultOf<typeof byProvider>["structuredResponse"]>().toEqualTypeOf<Weather>();
    const either = createDeepAgent({
      responseFormat: toolStrategy([Weather, z.object({ reason: z.string() })]),
    });
    expectTypeOf<ResultOf<typeof either>["structuredResponse"]>().toEqualTypeOf<
      Weather | { reason: string }
    >();
    const list = createDeepAgent({ responseFormat: [Weather, z.object({ reason: z.string() })] });
    expectTypeOf<ResultOf<typeof list>["structuredResponse"]>().toEqualTypeOf<Weather | { reason: string }>();
    const json = createDeepAgent({ responseFormat: { type: "object", properties: {} } });
    expectTypeOf<ResultOf<typeof json>["structuredResponse"]>().toEqualTypeOf<Record<string, unknown>>();
  });

  test('is wrapped with version "v2"', () => {
    const agent = createDeepAgent({ stateSchema: z.object({ depth: z.number() }) });
    const wrapped = () => agent.invoke({ messages: [] }, { version: "v2" });
    expectTypeOf<Awaited<ReturnType<typeof wrapped>>["value"]["depth"]>().toEqualTypeOf<number>();
    expectTypeOf<Awaited<ReturnType<typeof wrapped>>["interrupts"]>().toEqualTypeOf<Interrupt[]>();
    const plain = () => agent.invoke({ messages: [] });
    expectTypeOf<Awaited<ReturnType<typeof plain>>["depth"]>().toEqualTypeOf<number>();
  });
});

describe("the input and the options of invoke", () => {
  test("input is messages, files, the keys of stateSchema, a Command, or null", () => {
    const agent = createDeepAgent({
      stateSchema: z.object({ depth: z.number().default(0), _own: z.string() }),
    });
    type Input = Parameters<typeof agent.invoke>[0];
    expectTypeOf<{ messages: string[] }>().toExtend<Input>();
    expectTypeOf<{ messages: string; depth: number }>().toExtend<Input>();
    expectTypeOf<Record<never, never>>().toExtend<Input>();
    expectTypeOf<Command>().toExtend<Input>();
    expectTypeOf<null>().toExtend<Input>();
    expectTypeOf<{ messages: string; depth: string }>().not.toExtend<Input>();
  });

  test("context is what contextSchema takes", () => {
    const agent = createDeepAgent({
      contextSchema: z.object({ user: z.string(), tone: z.string().default("plain") }),
    });
    type Context = NonNullable<NonNullable<Parameters<typeof agent.invoke>[1]>["context"]>;
    expectTypeOf<Context>().toEqualTypeOf<{ user: string; tone?: string | undefined }>();
    const free = createDeepAgent();
    type Free = NonNullable<NonNullable<Parameters<typeof free.invoke>[1]>["context"]>;
    expectTypeOf<{ anything: 1 }>().toExtend<Free>();
    type StreamContext = NonNullable<NonNullable<Parameters<typeof agent.stream>[1]>["context"]>;
    expectTypeOf<StreamContext>().toEqualTypeOf<Context>();
  });

  test("unknown options and switches of middleware are told apart", () => {
    // @ts-expect-error there is no such option
    const misspelt = () => createDeepAgent({ modle: "x" });
    // @ts-expect-error only `false` turns a middleware off
    const turnedOn = () => createDeepAgent({ middleware: [{ todoListMiddleware: true }] });
    expectTypeOf(misspelt).toBeFunction();
    expectTypeOf(turnedOn).toBeFunction();
  });

  test("an agent can be passed on as any agent", () => {
    const special = createDeepAgent({
      stateSchema: z.object({ depth: z.number() }),
      contextSchema: z.object({ user: z.string() }),
    });
    const start = (agent: { invoke(input: any, options?: any): Promise<{ messages: BaseMessage[] }> }) =>
      agent;
    expectTypeOf(start).toBeCallableWith(special);
  });
});

describe("the streams of an agent", () => {
  const agent = createDeepAgent({ stateSchema: z.object({ depth: z.number() }) });

  test('a part of version "v2" is told by its type', () => {
    const read = async () => {
      const streamMode = ["values", "updates", "messages", "custom", "tools", "tasks"] as const;
      for await (const part of await agent.stream({ messages: [] }, { version: "v2", streamMode })) {
        expectTypeOf(part.ns).toEqualTypeOf<readonly string[]>();
        if (part.type === "messages") expectTypeOf(part.data[0]).toEqualTypeOf<BaseMessage>();
        if (part.type === "values") expectTypeOf(part.data.depth).toEqualTypeOf<number>();
        if (part.type === "updates")
          expectTypeOf(part.data.__interrupt__).toEqualTypeOf<Interrupt[] | undefined>();
        if (part.type === "custom") expectTypeOf(part.data).toBeUnknown();
        if (part.type === "tools") expectTypeOf(part.data.name).toBeString();
        if (part.type === "tasks") expectTypeOf(part.data.id).toBeString();
        // @ts-expect-error this mode was not asked for
        if (part.type === "checkpoints") expectTypeOf(part).toBeNever();
      }
      for await (const { data } of await agent.stream({ messages: [] }, { version: "v2" }))
        expectTypeOf(Object.keys(data)).toEqualTypeOf<string[]>();
      for await (const { data } of await agent.stream(null, { version: "v2", streamMode: "messages" }))
        expectTypeOf(data[0].text).toBeString();
    };
    expectTypeOf(read).toBeFunction();
  });

  test("streamEvents of version v3 is a run with typed streams", () => {
    const read = async () => {
      const run = await agent.streamEvents({ messages: [] }, { version: "v3" });
      expectTypeOf(run).not.toBeAny();
      expectTypeOf((await run.output).depth).toEqualTypeOf<number>();
      for await (const child of run.subagents)
        expectTypeOf((await child.output).messages).toEqualTypeOf<BaseMessage[]>();
      for await (const call of run.toolCalls) expectTypeOf(call.name).toBeString();
      for await (const message of run.messages)
        for await (const token of message.text) expectTypeOf(token).toBeString();
      for await (const event of agent.streamEvents({ messages: [] }, { version: "v2" }))
        expectTypeOf(event.event).toBeString();
      const encoded = { version: "v3", encoding: "text/event-stream" } as const;
      for await (const bytes of await agent.streamEvents(null, encoded))
        expectTypeOf(bytes).toEqualTypeOf<Uint8Array>();
    };
    expectTypeOf(read).toBeFunction();
  });
});

test("the input has the keys of every middleware's stateSchema", () => {
  const counting = createMiddleware({
    name: "counting",
    stateSchema: z.object({ count: z.number().default(0), _hidden: z.string().default("") }),
  });
  const agent = createDeepAgent({ middleware: [counting] });
  type Input = Parameters<typeof agent.invoke>[0];
  expectTypeOf<{ messages: string; count: number }>().toExtend<Input>();
  expectTypeOf<{ messages: string; count: string }>().not.toExtend<Input>();
});
