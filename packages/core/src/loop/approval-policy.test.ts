import type { ToolCall } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import {
  type ApprovalPolicy,
  approvalPolicy,
  approvalRequest,
  DECISION_TYPES,
  readDecisions,
} from "./approval-policy.ts";

const call = (name: string, args: Record<string, unknown> = {}): ToolCall => ({
  name,
  args,
  id: `${name}-call`,
});
const policyOf = (interruptOn: object): ApprovalPolicy =>
  approvalPolicy(interruptOn as never) as ApprovalPolicy;
const anything = (): undefined => undefined;
const approve = { type: "approve" };

describe("the policy", () => {
  test.each([undefined, null, {}, { a: false }, { a: null, b: undefined }])(
    "%j gates nothing",
    (interruptOn) => {
      expect(approvalPolicy(interruptOn as never)).toBeUndefined();
    },
  );

  test.each<[unknown, readonly string[]]>([
    [true, DECISION_TYPES],
    [{}, DECISION_TYPES],
    [{ type: "tool" }, DECISION_TYPES],
    [{ allowedDecisions: ["approve"] }, ["approve"]],
    [{ allowed_decisions: ["reject", "edit"] }, ["reject", "edit"]],
  ])("%j allows %j", async (setting, allowed) => {
    const { reviewConfigs } = await approvalRequest(policyOf({ pay: setting }), [call("pay")]);
    expect(reviewConfigs).toEqual([{ actionName: "pay", allowedDecisions: allowed }]);
  });

  test.each<[unknown, RegExp]>([
    ["yes", /must be true, false or an object/],
    [1, /must be true, false or an object/],
    [{ allowedDecision: ["approve"] }, /unknown key 'allowedDecision'/],
    [{ allowedDecisions: [] }, /decisions are approve, edit, reject, respond/],
    [{ allowedDecisions: ["allow"] }, /allows 'allow'/],
    [{ allowedDecisions: "approve" }, /allows 'approve'/],
  ])("%j is refused: a gate must not stand open by a slip", (setting, words) => {
    const build = () => approvalPolicy({ pay: setting } as never);
    expect(build).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(build).toThrow(words);
  });
});

describe("the question", () => {
  test.each<[string, unknown, string]>([
    ["the default", true, 'The agent wants to call pay with {"amount":5}'],
    ["a text", { description: "Pay?" }, "Pay?"],
    ["the older name", { actionDescription: "Pay now?" }, "Pay now?"],
    ["a function", { description: (c: ToolCall) => `Pay ${c.args.amount}?` }, "Pay 5?"],
    [
      "a function that looks around",
      { description: async (_: ToolCall, state: { n: number }) => `Pay #${state.n}?` },
      "Pay #7?",
    ],
  ])("is described by %s", async (_, setting, description) => {
    const scene = { state: { n: 7 } };
    const request = await approvalRequest(policyOf({ pay: setting }), [call("pay", { amount: 5 })], scene);
    expect(request.actionRequests).toEqual([{ name: "pay", args: { amount: 5 }, description }]);
  });

  test("lists all calls in order, with the schema of their arguments if one was given", async () => {
    const policy = policyOf({
      pay: true,
      mail: { allowedDecisions: ["approve"], argsSchema: { type: "object" } },
    });
    const request = await approvalRequest(policy, [call("mail"), call("pay")]);
    expect(request.actionRequests.map((action) => action.name)).toEqual(["mail", "pay"]);
    expect(request.reviewConfigs.map((config) => config.actionName)).toEqual(["mail", "pay"]);
    expect(request.reviewConfigs.map((config) => config.argsSchema)).toEqual([{ type: "object" }, undefined]);
  });
});

describe("an answer", () => {
  const policy = policyOf({ pay: true, mail: { allowedDecisions: ["approve", "reject"] } });
  const read = (
    answer: unknown,
    calls = [call("pay")],
    check: (tool: string) => string | undefined = anything,
  ) => readDecisions(answer, policy, calls, check);

  test.each<[unknown, object]>([
    [approve, approve],
    [{ type: "approve", remember: "thread" }, approve],
    [{ type: "reject" }, { type: "reject" }],
    [
      { type: "reject", message: "no" },
      { type: "reject", message: "no" },
    ],
    [
      { type: "respond", message: "" },
      { type: "respond", message: "" },
    ],
    [
      { type: "edit", editedAction: { name: "pay", args: { amount: 1 } } },
      { type: "edit", editedAction: { name: "pay", args: { amount: 1 } } },
    ],
    [
      { type: "edit", edited_action: { name: "pay", args: {} } },
      { type: "edit", editedAction: { name: "pay", args: {} } },
    ],
  ])("%j is a decision", (decision, expected) => {
    expect(read({ decisions: [decision] })).toEqual({ decisions: [expected] });
  });

  test.each<[unknown, RegExp]>([
    [undefined, /\{decisions: \[\.\.\.\]\}/],
    [null, /\{decisions: \[\.\.\.\]\}/],
    ["approve", /\{decisions: \[\.\.\.\]\}/],
    [[approve], /\{decisions: \[\.\.\.\]\}/],
    [{ decisions: { 0: approve } }, /\{decisions: \[\.\.\.\]\}/],
    [{ decisions: [] }, /1 decision\(s\) are needed.*0 came/],
    [{ decisions: [approve, approve] }, /2 came/],
    [{ decisions: [undefined] }, /^Decision 1 \(pay\): the type must be one of/],
    [{ decisions: [{ type: "APPROVE" }] }, /the type must be one of/],
    [{ decisions: [{ type: "toString" }] }, /the type must be one of/],
    [{ decisions: [{ type: "edit", editedAction: null }] }, /needs editedAction/],
    [{ decisions: [{ type: "edit", editedAction: { args: {} } }] }, /not the tool \('pay'\)/],
    [{ decisions: [{ type: "edit", editedAction: { name: "Pay", args: {} } }] }, /not the tool/],
    [{ decisions: [{ type: "edit", editedAction: { name: "pay" } }] }, /must be an object/],
    [{ decisions: [{ type: "edit", editedAction: { name: "pay", args: null } }] }, /must be an object/],
    [{ decisions: [{ type: "respond" }] }, /needs a message/],
    [{ decisions: [{ type: "respond", message: 5 }] }, /must be text/],
    [{ decisions: [{ type: "reject", message: {} }] }, /must be text/],
  ])("%j is none", (answer, problem) => {
    expect(read(answer)).toEqual({ problem: expect.stringMatching(problem) });
  });

  test("says which decision is wrong", () => {
    const calls = [call("pay"), call("mail")];
    expect(read({ decisions: [approve, { type: "respond", message: "x" }] }, calls)).toEqual({
      problem: "Decision 2 (mail): 'respond' is not allowed here; approve, reject are.",
    });
  });

  test("edited arguments pass the tool's schema or come back with its words", () => {
    const answer = { decisions: [{ type: "edit", editedAction: { name: "pay", args: { amount: "x" } } }] };
    expect(read(answer, [call("pay")], (tool) => `${tool} wants a number`)).toEqual({
      problem: "Decision 1 (pay): the edited arguments are not valid: pay wants a number",
    });
  });
});
