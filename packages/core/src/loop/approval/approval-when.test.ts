/** Asking about some calls only: predicates of the policy, and gates that look at arguments. */
import { type AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../agent.ts";
import { isApprovedCall } from "../../backends/approved-call.ts";
import { callTool, type ScriptedCall, say, scriptedModel } from "../../testing/index.ts";
import type { CallGate, WhenRequest } from "../approval-rules/approval-policy.ts";
import { type AgentState, ask, lastText, onThread, outline } from "../fixtures/agents.ts";
import {
  approve,
  contents,
  decide,
  edit,
  LOOK,
  MAIL,
  office,
  PAY,
  reject,
  requestOf,
  T,
  waiting,
} from "../fixtures/office.ts";

const pay = (amount: unknown, id: string): ScriptedCall => ({ name: "pay", args: { amount }, id });
const large = ({ toolCall }: WhenRequest): boolean => toolCall.args.amount > 10;

describe("a predicate", () => {
  test("only the calls it holds for are asked about; the others run with them", async () => {
    const { agent, request, ran, model } = await waiting([pay(5, "a"), pay(50, "b"), LOOK], {
      interruptOn: { pay: { when: large } },
    });
    expect(request.actionRequests.map(({ args }) => args)).toEqual([{ amount: 50 }]);
    expect(ran).toEqual([]);
    const state = (await agent.invoke(decide(reject), T)) as AgentState;
    expect(outline(state.messages).slice(2)).toEqual([
      "tool pay ok",
      "tool pay failed",
      "tool look ok",
      "ai done",
    ]);
    expect(ran.map(([name, args]) => [name, args])).toContainEqual(["pay", { amount: 5 }]);
    expect([ran.length, model.violations]).toEqual([2, []]);
  });

  test("when it holds for none, nobody is asked and everything runs once", async () => {
    const { agent, ran } = office([pay(1, "a"), pay(2, "b")], { interruptOn: { pay: { when: large } } });
    const state = (await agent.invoke(ask(), T)) as AgentState;
    expect([state.__interrupt__, lastText(state), ran.length]).toEqual([undefined, "done", 2]);
  });

  test("may be asynchronous, and sees state, runtime, tool and call", async () => {
    const seen: WhenRequest[] = [];
    const when = async (request: WhenRequest): Promise<boolean> => {
      seen.push(request);
      return request.runtime.context.strict;
    };
    const { agent } = office([PAY], { interruptOn: { pay: { when } } });
    const lenient = (await agent.invoke(ask(), { ...T, context: { strict: false } })) as AgentState;
    expect(lenient.__interrupt__).toBeUndefined();
    const strict = await agent.invoke(ask(), { ...onThread("u"), context: { strict: true } });
    expect(requestOf(strict as AgentState).actionRequests).toHaveLength(1);
    expect(seen[0]?.toolCall).toMatchObject({ name: "pay", args: { amount: 5 }, id: "pay-call" });
    expect(seen[0]?.tool).toMatchObject({ name: "pay" });
    expect(seen[0]?.state.messages[0].text).toBe("Go.");
  });

  test.each<[string, () => any]>([
    [
      "throws",
      () => {
        throw new Error("no rates");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no rates"))],
    ["says nothing", () => undefined],
    ["says something odd", () => 0],
  ])("one that %s asks", async (_, when) => {
    const { agent, request, ran } = await waiting([PAY], { interruptOn: { pay: { when } } });
    expect(request.actionRequests).toMatchObject([{ name: "pay" }]);
    expect(ran).toEqual([]);
    await agent.invoke(decide(approve), T);
    expect(ran).toHaveLength(1);
  });

  test("arguments are as the tool's schema reads them; what is refused by it is not asked about", async () => {
    const seen: unknown[] = [];
    const transfer = tool(() => "transferred", {
      name: "transfer",
      description: "transfer",
      schema: z.object({ amount: z.coerce.number(), currency: z.string().default("EUR") }),
    });
    const when = ({ toolCall }: WhenRequest): boolean => {
      seen.push(toolCall.args);
      return false;
    };
    const call = (amount: unknown, id: string) => ({ name: "transfer", args: { amount }, id });
    const { agent } = office([call("12", "a"), call("much", "b")], {
      tools: [transfer],
      interruptOn: { transfer: { when } },
    });
    const state = (await agent.invoke(ask(), T)) as AgentState;
    expect(seen).toEqual([{ amount: 12, currency: "EUR" }]);
    expect([state.__interrupt__, contents(state)]).toEqual([
      undefined,
      ["transferred", expect.stringMatching(/'transfer' are not valid:[\s\S]*expected number/)],
    ]);
  });

  test("paths of the file tools come in their one spelling, under the tool's own name for them", async () => {
    const seen: unknown[] = [];
    const agent = createDeepAgent({
      model: scriptedModel([callTool("read_file", { path: "//notes/./a.md" }), say("done")]),
      interruptOn: {
        read_file: {
          when: ({ toolCall }) => {
            seen.push(toolCall.args.file_path);
            return false;
          },
        },
      },
      checkpointer: new MemorySaver(),
    });
    await agent.invoke(ask(), T);
    expect(seen).toEqual(["/notes/a.md"]);
  });

  test("is asked once, not again when the answer comes: what was shown is what is decided", async () => {
    let calls = 0;
    // Holds for the first call it sees, and would hold for the other one the next time.
    const when = (): boolean => {
      calls += 1;
      return calls % 3 === 1;
    };
    const { agent, request, ran } = await waiting([pay(1, "a"), pay(2, "b")], {
      interruptOn: { pay: { when } },
    });
    expect(request.actionRequests).toMatchObject([{ args: { amount: 1 } }]);
    await agent.invoke(decide(reject), T);
    expect([calls, ran]).toEqual([2, [["pay", { amount: 2 }]]]);
  });

  test("words that cannot be had do not keep the question from being asked", async () => {
    const description = () => {
      throw new Error("no words");
    };
    const { request } = await waiting([PAY], { interruptOn: { pay: { description } } });
    expect(request.actionRequests[0]?.description).toContain('{"amount":5}');
  });
});

const BAD: readonly ScriptedCall[] = [
  pay("much", "bad-pay"),
  { name: "mail", args: { too: "ann" }, id: "bad-mail" },
];

describe("arguments that the tool's schema refuses", () => {
  const interruptOn = { pay: true, mail: true };

  test("are answered in the words of the tool, and nobody is asked", async () => {
    const gated = office(BAD, { interruptOn });
    const state = (await gated.agent.invoke(ask(), T)) as AgentState;
    const free = (await office(BAD, { interruptOn: undefined }).agent.invoke(ask(), T)) as AgentState;
    expect([state.__interrupt__, gated.ran, lastText(state)]).toEqual([undefined, [], "done"]);
    expect(contents(state)).toEqual(contents(free));
    expect(contents(state)).toEqual([
      expect.stringMatching(/'pay' are not valid:[\s\S]*expected number/),
      expect.stringMatching(/'mail' are not valid:[\s\S]*no argument 'too'/),
    ]);
  });

  test("a built-in tool answers the same with and without approvals", async () => {
    const write = callTool("write_file", { filepath: "/a", content: "x" });
    const answers = [true, false].map(async (gated) => {
      const agent = createDeepAgent({
        model: scriptedModel([write, say("done")]),
        interruptOn: { write_file: gated },
        checkpointer: new MemorySaver(),
      });
      return contents((await agent.invoke(ask(), T)) as AgentState);
    });
    const [asked, free] = await Promise.all(answers);
    expect(asked).toEqual([expect.stringMatching(/not valid:[\s\S]*did you mean 'file_path'/)]);
    expect(asked).toEqual(free);
  });

  test("beside others: the question and its decisions are about the others, in their order", async () => {
    const calls = [BAD[0] as ScriptedCall, pay(5, "a"), BAD[1] as ScriptedCall, MAIL];
    const { agent, request, ran, model } = await waiting(calls, { interruptOn });
    expect(request.actionRequests.map(({ args }) => args)).toEqual([{ amount: 5 }, { to: "ann" }]);
    const state = (await agent.invoke(decide(edit("pay", { amount: 6 }), reject), T)) as AgentState;
    expect(ran).toEqual([["pay", { amount: 6 }]]);
    expect(outline(state.messages).slice(2, 6)).toEqual([
      "tool pay failed",
      "tool pay ok",
      "tool mail failed",
      "tool mail failed",
    ]);
    expect(contents(state)[0]).toMatch(/not valid/);
    expect(contents(state)[3]).toMatch(/rejected by a person/);
    expect(model.violations).toEqual([]);
  });

  test("a check that throws is no answer: then the person is asked", async () => {
    const odd = tool(() => "odd ran", {
      name: "odd",
      description: "odd",
      schema: z.object({
        a: z.string().refine(() => {
          throw new Error("no check");
        }),
      }),
    });
    const { request } = await waiting([{ name: "odd", args: { a: "b" }, id: "o" }], {
      tools: [odd],
      interruptOn: { odd: true },
    });
    expect(request.actionRequests).toMatchObject([{ name: "odd" }]);
  });

  test("a middleware that runs calls by itself does not get the call", async () => {
    const seen: unknown[] = [];
    const runsItself = {
      name: "elsewhere",
      wrapToolCall: ({ toolCall }: any) => {
        seen.push(toolCall.args);
        return new ToolMessage({ content: "ran elsewhere", tool_call_id: toolCall.id });
      },
    };
    const { agent } = office([BAD[0] as ScriptedCall], { interruptOn, middleware: [runsItself as never] });
    await agent.invoke(ask(), T);
    expect(seen).toEqual([]);
  });
});

/** Asks about payments above a limit, and refuses those above a higher one. */
const limits: CallGate = {
  watches: (name) => name === "pay",
  asks: ({ args }) => (args.amount > 10 ? { description: `${args.amount} is much.` } : undefined),
  refuses: ({ args }) => (args.amount > 100 ? `${args.amount} is too much.` : undefined),
};

describe("a gate", () => {
  const gated = { interruptOn: undefined, gates: [limits] };

  test("asks about the calls it has a reason for; the others run", async () => {
    const { agent, request, ran } = await waiting([pay(5, "a"), pay(50, "b"), MAIL], gated);
    expect(request.actionRequests).toEqual([
      { name: "pay", args: { amount: 50 }, description: "50 is much." },
    ]);
    expect(request.reviewConfigs[0]?.allowedDecisions).toHaveLength(4);
    await agent.invoke(decide(approve), T);
    expect(ran.map(([, args]) => JSON.stringify(args)).sort()).toEqual([
      ...['{"amount":50}', '{"amount":5}', '{"to":"ann"}'],
    ]);
  });

  test("one that has no reason costs no question", async () => {
    const { agent, ran } = office([pay(5, "a")], gated);
    const state = (await agent.invoke(ask(), T)) as AgentState;
    expect([state.__interrupt__, ran.length]).toEqual([undefined, 1]);
  });

  test("HI-03 edited arguments are checked by it again; the thread stays usable", async () => {
    const { agent, ran } = await waiting([pay(50, "a")], gated);
    const again = (await agent.invoke(decide(edit("pay", { amount: 500 })), T)) as AgentState;
    expect(requestOf(again).error).toMatch(/not valid: 500 is too much/);
    const state = (await agent.invoke(decide(edit("pay", { amount: 60 })), T)) as AgentState;
    expect([ran, contents(state)]).toEqual([[["pay", { amount: 60 }]], ["pay ran"]]);
    expect((state.messages[1] as AIMessage).tool_calls?.[0]?.args).toEqual({ amount: 60 });
  });

  test("one that fails asks, and an edit it cannot check is not taken", async () => {
    const down = () => Promise.reject(new Error("down"));
    const broken: CallGate = { ...limits, asks: down, refuses: down };
    const { agent, request, ran } = await waiting([PAY], { ...gated, gates: [broken] });
    expect(request.actionRequests[0]?.description).toMatch(/could not be found out/);
    const again = (await agent.invoke(decide(edit("pay", { amount: 1 })), T)) as AgentState;
    expect(requestOf(again).error).toMatch(/could not be found out/);
    await agent.invoke(decide(approve), T);
    expect(ran).toHaveLength(1);
  });

  test.each<[string, any, any, readonly string[]]>([
    ["both allow", ["approve", "reject"], ["reject", "edit"], ["reject"]],
    ["the policy narrows", ["approve"], undefined, ["approve"]],
    ["nothing is in common", ["approve"], ["edit"], ["reject"]],
  ])("beside a policy the decisions are those that %s", async (_, policy, gate, allowed) => {
    const strict: CallGate = { ...limits, asks: () => ({ description: "Hm.", allowedDecisions: gate }) };
    const { request } = await waiting([PAY], {
      interruptOn: { pay: { allowedDecisions: policy, description: "Pay?" } },
      gates: [strict],
    });
    expect(request.reviewConfigs[0]?.allowedDecisions).toEqual(allowed);
    expect(request.actionRequests[0]?.description).toBe("Pay?\nHm.");
  });

  test("without a checkpointer the first run fails before the model is asked", async () => {
    const { agent, model } = office([PAY], { ...gated, checkpointer: undefined });
    await expect(agent.invoke(ask())).rejects.toMatchObject({ code: "CHECKPOINTER_REQUIRED" });
    expect(model.callCount).toBe(0);
  });
});

describe("the mark of an approved call", () => {
  test.each<[string, any, boolean]>([
    ["approved", approve, true],
    ["edited", edit("pay", { amount: 20 }), true],
  ])("a call that was %s has it, its siblings do not", async (_, decision, marked) => {
    const { agent, ran, configs } = await waiting([pay(50, "a"), pay(5, "b"), LOOK], {
      interruptOn: undefined,
      gates: [limits],
    });
    await agent.invoke(decide(decision), T);
    const marks = ran.map(([, args], i) => [
      (args as { amount?: number }).amount,
      isApprovedCall(configs[i]),
    ]);
    expect(new Map(marks as [unknown, boolean][])).toEqual(
      new Map<unknown, boolean>([
        [decision.type === "edit" ? 20 : 50, marked],
        [5, false],
        [undefined, false],
      ]),
    );
  });

  test("backends that look at the whole config of the task find it", async () => {
    const { agent, configs } = await waiting([PAY], { store: new InMemoryStore() });
    await agent.invoke(decide(approve), T);
    expect(isApprovedCall({ config: configs[0].config })).toBe(true);
  });

  test("an agent that runs inside the call does not get it, with the config or without", async () => {
    for (const handsConfig of [true, false]) {
      const marks: boolean[] = [];
      const inner = office([LOOK], { interruptOn: undefined, checkpointer: undefined });
      const delegate = tool(
        async (_: unknown, config: any) => {
          marks.push(isApprovedCall(config));
          await inner.agent.invoke(ask(), handsConfig ? config : undefined);
          return "delegated";
        },
        { name: "delegate", description: "delegate", schema: z.object({}) },
      );
      const { agent } = await waiting([{ name: "delegate", args: {}, id: "d" }], {
        tools: [delegate],
        interruptOn: { delegate: true },
      });
      await agent.invoke(new Command({ resume: { decisions: [approve] } }), T);
      expect([marks, inner.configs.map(isApprovedCall)]).toEqual([[true], [false]]);
    }
  });
});
