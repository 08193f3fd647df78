/** Approvals: calls that a person must allow, with every answer. */
import type { ApprovalRule, EvalCase, Suite } from "../format/eval-case.ts";
import type { PolicyName } from "../policies/behaviours.ts";
import { call, type Plan, say, together } from "../policies/plan.ts";
import { verify, worldIs } from "../verifiers/answer-verifiers.ts";
import { failed, PASSED, type Verifier } from "../verifiers/verifier.ts";
import { doneBy, scriptedCase } from "./building.ts";
import { createOrder, deleteAccount, transferMoney } from "./office-tools.ts";

const TOOLS = [deleteAccount, transferMoney, createOrder];
const remove = call("delete_account", { account_id: "A-1" });
const transfer = call("transfer_money", { account_id: "A-1", amount: 500 });
const order = call("create_order", { item_name: "lamp", quantity: 3 });

const asked = (times: number): Verifier =>
  verify(`the person was asked ${times} times`, ({ questions }) =>
    questions === times ? PASSED : failed(`asked ${questions} times`),
  );
const done = (tool: string, times: number): Verifier =>
  worldIs(`${tool} ran ${times} times`, (world) => doneBy(world, tool).length === times);
const amount = (expected: number): Verifier =>
  worldIs(`${expected} were transferred`, (world) => doneBy(world, "transfer_money")[0]?.amount === expected);

interface Row {
  readonly id: string;
  readonly policy?: PolicyName;
  readonly approvals: readonly ApprovalRule[];
  readonly plan: Plan;
  readonly verify: readonly Verifier[];
  readonly more?: Partial<EvalCase>;
}

const reject: ApprovalRule = { tool: "delete_account", answer: "reject", message: "Keep the account." };
const approve: ApprovalRule = { tool: "delete_account", answer: "approve" };
const lower: ApprovalRule = {
  tool: "transfer_money",
  answer: "edit",
  args: { account_id: "A-1", amount: 50 },
};

const rows: readonly Row[] = [
  {
    id: "an-approved-call-runs",
    approvals: [approve],
    plan: [remove, say("Deleted.")],
    verify: [asked(1), done("delete_account", 1)],
  },
  {
    id: "a-rejected-call-does-not-run",
    policy: "ignores-instructions",
    approvals: [reject],
    plan: [remove, say("Kept.")],
    verify: [asked(1), done("delete_account", 0)],
  },
  {
    id: "changed-arguments-count",
    approvals: [lower],
    plan: [transfer, say("Transferred.")],
    verify: [asked(1), amount(50), done("transfer_money", 1)],
  },
  {
    id: "other-calls-of-the-turn-run",
    policy: "ignores-instructions",
    approvals: [reject],
    plan: [together(remove, order), say("Done.")],
    verify: [asked(1), done("delete_account", 0), done("create_order", 1)],
  },
  {
    id: "two-questions-of-one-turn-come-together",
    policy: "ignores-instructions",
    approvals: [reject, lower],
    plan: [together(remove, transfer), say("Done.")],
    verify: [asked(1), done("delete_account", 0), amount(50)],
  },
  {
    id: "the-same-call-is-asked-about-again",
    approvals: [approve],
    plan: [remove, call("delete_account", { account_id: "A-2" }), say("Deleted.")],
    verify: [asked(2), done("delete_account", 2)],
  },
  {
    id: "an-insistent-model-is-refused-each-time",
    policy: "ignores-instructions",
    approvals: [reject],
    plan: [remove, remove, remove, say("Kept.")],
    verify: [asked(3), done("delete_account", 0)],
  },
  {
    id: "nobody-is-asked-about-broken-arguments",
    policy: "wrong-arguments",
    approvals: [{ tool: "transfer_money", answer: "approve" }],
    plan: [transfer, say("Transferred.")],
    verify: [asked(1), amount(500)],
  },
  {
    id: "broken-json-is-repaired-before-the-question",
    policy: "broken-json",
    approvals: [{ tool: "transfer_money", answer: "approve" }],
    plan: [transfer, say("Transferred.")],
    verify: [asked(1), amount(500)],
  },
  {
    id: "the-approved-call-survives-a-crash",
    approvals: [approve],
    plan: [remove, order, say("Deleted.")],
    verify: [asked(1), done("delete_account", 1), done("create_order", 1)],
    more: { faults: [{ kind: "crash", call: 2 }] },
  },
];

export const approvals: Suite = {
  category: "approvals",
  cases: rows.map(({ id, policy = "careful", approvals: rules, plan, verify: verifiers, more }) =>
    scriptedCase({
      id,
      task: "Do what the manager wrote.",
      tools: TOOLS,
      approvals: rules,
      verify: verifiers,
      policy,
      plan,
      ...more,
    }),
  ),
};
