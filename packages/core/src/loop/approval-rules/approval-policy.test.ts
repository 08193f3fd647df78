import type { ToolCall } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import {
  type ApprovalPolicy,
  approvalPolicy,
  approvalRequest,
  DECISION_TYPES,
  type DecisionChecks,
  type DecisionType,
  mayAskByOptions,
  type Question,
  readDecisions,
} from "./approval-policy.ts";

const call = (name: string, args: Record<string, unknown> = {}): ToolCall => ({
  name,
  args,
  id: `${name}-call`,
});
const policyOf = (interruptOn: object): ApprovalPolicy =>
  approvalPolicy(interruptOn as never) as ApprovalPolicy;
const question = (
  asked: ToolCall,
  allowedDecisions = DECISION_TYPES,
  more: Partial<Question> = {},
): Question => ({
  call: asked,
  allowedDecisions,
  ...more,
});
const anything: DecisionChecks = { edited: () => undefined, remembered: () => undefined };
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
  ])("%j allows %j", (setting, allowed) => {
    expect(policyOf({ pay: setting }).get("pay")?.allowedDecisions).toEqual(allowed);
  });

  test.each<[object, boolean]>([
    [{}, false],
    [{ interruptOn: null, permissions: null }, false],
    [{ interruptOn: { a: false, b: null } }, false],
    [{ interruptOn: { a: false, b: true } }, true],
    [{ permissions: [{ mode: "deny" }, null] }, false],
    [{ permissions: [{ mode: "deny" }, { mode: "interrupt" }] }, true],
  ])("an agent with %j may ask a person: %s", (options, expected) => {
    expect(mayAskByOptions(options)).toBe(expected);
  });

  test("a predicate is taken, under the name that LangChain gives it", () => {
    const when = (): boolean => true;
    expect(policyOf({ pay: { when } }).get("pay")?.when).toBe(when);
    expect(policyOf({ pay: true }).get("pay")?.when).toBeUndefined();
  });

  test.each<[unknown, RegExp]>([
    ["yes", /must be true, false or an object/],
    [1, /must be true, false or an object/],
    [{ allowedDecision: ["approve"] }, /unknown key 'allowedDecision'/],
    [{ when: true }, /'when' that is no function/],
    [{ allowedDecisions: [] }, /decisions are approve, edit, reject, respond/],
    [{ allowedDecisions: ["allow"] }, /allows 'allow'/],
    [{ allowedDecisions: ["approve", "allow"] }, /allows 'approve,allow'/],
    [{ allowedDecisions: "approve" }, /allows 'approve'/],
  ])("%j is refused: a gate must not stand open by a slip", (setting, words) => {
    const build = () => approvalPolicy({ pay: setting } as never);
    expect(build).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(build).toThrow(words);
  });
});

describe("the question", () => {
  test("is the call in words, unless there are better ones", () => {
    const pay = call("pay", { amount: 5 });
    const request = approvalRequest([question(pay), question(pay, DECISION_TYPES, { description: "Pay?" })]);
    expect(request.actionRequests).toEqual([
      { name: "pay", args: { amount: 5 }, description: 'The agent wants to call pay with {"amount":5}' },
      { name: "pay", args: { amount: 5 }, description: "Pay?" },
    ]);
  });

  test("lists all calls in order, with the schema of their arguments if one was given", () => {
    const request = approvalRequest([
      question(call("mail"), ["approve"], { argsSchema: { type: "object" } }),
      question(call("pay")),
    ]);
    expect(request.actionRequests.map((action) => action.name)).toEqual(["mail", "pay"]);
    expect(request.reviewConfigs).toEqual([
      { actionName: "mail", allowedDecisions: ["approve"], argsSchema: { type: "object" } },
      { actionName: "pay", allowedDecisions: DECISION_TYPES },
    ]);
  });

  test("of an agent inside another says which agent asks", () => {
    expect(approvalRequest([question(call("pay"))], ["lead", "clerk"]).agentPath).toEqual(["lead", "clerk"]);
    expect(Object.keys(approvalRequest([question(call("pay"))]))).not.toContain("agentPath");
  });
});

describe("an answer", () => {
  const allowed: Record<string, readonly DecisionType[]> = { mail: ["approve", "reject"] };
  const read = (answer: unknown, calls = [call("pay")], checks = anything) =>
    readDecisions(
      answer,
      calls.map((asked) => question(asked, allowed[asked.name])),
      checks,
    );

  test.each<[unknown, object]>([
    [approve, approve],
    [
      { type: "approve", remember: "thread" },
      { type: "approve", remember: "thread" },
    ],
    [
      { type: "approve", remember: "always" },
      { type: "approve", remember: "always" },
    ],
    [{ type: "approve", remember: "once" }, approve],
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
  ])("%j is a decision", async (decision, expected) => {
    expect(await read({ decisions: [decision] })).toEqual({ decisions: [expected] });
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
    [{ decisions: [{ type: "approve", remember: "forever" }] }, /'remember' must be 'thread' or 'always'/],
    [{ decisions: [{ type: "approve", remember: true }] }, /'remember' must be/],
    [{ decisions: [{ type: "reject", remember: "always" }] }, /only an approval can be remembered/],
    [
      { decisions: [{ type: "edit", editedAction: { name: "pay", args: {} }, remember: "thread" }] },
      /only an approval can be remembered/,
    ],
  ])("%j is none", async (answer, problem) => {
    expect(await read(answer)).toEqual({ problem: expect.stringMatching(problem) });
  });

  test("says which decision is wrong", async () => {
    const calls = [call("pay"), call("mail")];
    expect(await read({ decisions: [approve, { type: "respond", message: "x" }] }, calls)).toEqual({
      problem: "Decision 2 (mail): 'respond' is not allowed here; approve, reject are.",
    });
  });

  test("edited arguments pass what checks them or come back with its words", async () => {
    const answer = { decisions: [{ type: "edit", editedAction: { name: "pay", args: { amount: "x" } } }] };
    const seen: unknown[] = [];
    const edited = async (changed: ToolCall) => {
      seen.push(changed);
      return "pay wants a number";
    };
    expect(await read(answer, [call("pay")], { ...anything, edited })).toEqual({
      problem: "Decision 1 (pay): the edited arguments are not valid: pay wants a number",
    });
    expect(seen).toEqual([call("pay", { amount: "x" })]);
  });

  test("what cannot be remembered is no decision", async () => {
    const remembered = (scope: string) => (scope === "always" ? "there is no store." : undefined);
    const decide = (remember: string) =>
      read({ decisions: [{ type: "approve", remember }] }, [call("pay")], { ...anything, remembered });
    expect(await decide("always")).toEqual({ problem: "Decision 1 (pay): there is no store." });
    expect(await decide("thread")).toHaveProperty("decisions");
  });
});

test("a rule can be about all tools whose names begin alike; the name itself, then the longer beginning, counts first", () => {
  const policy = policyOf({
    "mcp__*": true,
    "mcp__git__*": { allowedDecisions: ["reject"] },
    mcp__git__log: false,
    "mcp__web__*": false,
    other: true,
  });
  expect(
    ["mcp__a__b", "mcp__git__push", "mcp__git__log", "mcp__web__get", "other", "otherwise"].map(policy.has),
  ).toEqual([true, true, false, false, true, false]);
  expect(policy.get("mcp__git__push")?.allowedDecisions).toEqual(["reject"]);
  expect(approvalPolicy({ "a*": false })).toBeUndefined();
});
