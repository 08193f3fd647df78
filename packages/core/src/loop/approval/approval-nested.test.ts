/** Questions of agents inside agents: they come up as one item with the path, and answers find their call. */
import { Command, InMemoryStore } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { listApprovals } from "../approval-rules/approval-memory.ts";
import type { ApprovalRequest } from "../approval-rules/approval-policy.ts";
import { type AgentState, ask, lastText, resultsOf } from "../fixtures/agents.ts";
import { type Firm, firm } from "../fixtures/firm.ts";
import { approve, decide, edit, GATED, LOOK, MAIL, PAY, reject, requestOf, T } from "../fixtures/office.ts";

const start = async ({ lead }: Firm): Promise<AgentState> => (await lead.invoke(ask(), T)) as AgentState;
const resume = async ({ lead }: Firm, command: Command): Promise<AgentState> =>
  (await lead.invoke(command, T)) as AgentState;

/** The pending questions by the path of the agent that asks. */
function questions(state: AgentState): Map<string, string> {
  const pending = state.__interrupt__ ?? [];
  return new Map(
    pending.map(({ id, value }) => [(value as ApprovalRequest).agentPath?.join("/") ?? "", id as string]),
  );
}

describe("a question at depth three", () => {
  test("is one item at the top, with the path of agents; nothing gated has run", async () => {
    const setup = firm({ calls: [PAY, LOOK] });
    const request = requestOf(await start(setup));
    expect(request).toMatchObject({
      actionRequests: [{ name: "pay", args: { amount: 5 } }],
      agentPath: ["deputy", "clerk"],
    });
    expect([setup.ran, setup.asked]).toEqual([[], { lead: 1, deputy: 1, clerk: 1 }]);
  });

  test.each<[string, unknown, unknown[]]>([
    ["approve", approve, [["pay", { amount: 5 }]]],
    ["edit", edit("pay", { amount: 1 }), [["pay", { amount: 1 }]]],
    ["reject", reject, []],
    ["respond", { type: "respond", message: "Paid." }, []],
  ])("%s goes on at that call; nobody is asked twice and nothing runs twice", async (_, decision, paid) => {
    const setup = firm({ calls: [PAY, LOOK] });
    await start(setup);
    const state = await resume(setup, decide(decision));
    expect([lastText(state), resultsOf(state.messages)[0]?.content]).toEqual(["done", "deputy: done"]);
    expect(setup.ran.filter(([name]) => name === "pay")).toEqual(paid);
    expect(setup.ran.filter(([name]) => name === "look")).toHaveLength(1);
    expect(setup.asked).toEqual({ lead: 2, deputy: 2, clerk: 2 });
  });

  test("HI-02 malformed answers are asked for again there, then a good one works", async () => {
    const setup = firm({ calls: [PAY] });
    await start(setup);
    for (const answer of ["approve", { decisions: [] }, { decisions: [edit("mail", {})] }]) {
      const again = requestOf(await resume(setup, new Command({ resume: answer })));
      expect(again).toMatchObject({ error: expect.any(String), agentPath: ["deputy", "clerk"] });
    }
    await resume(setup, decide(approve));
    expect([setup.ran, setup.asked.clerk]).toEqual([[["pay", { amount: 5 }]], 2]);
    await expect(resume(setup, decide(approve))).rejects.toMatchObject({ code: "NOTHING_TO_RESUME" });
  });

  test("HI-07 a new message closes the call, and does not say that it did not run", async () => {
    const setup = firm({ calls: [PAY, LOOK] });
    await start(setup);
    const state = (await setup.lead.invoke(ask("Leave it."), T)) as AgentState;
    const [closed] = resultsOf(state.messages);
    expect(closed).toMatchObject({ name: "delegate", status: "error" });
    expect(closed?.content).toMatch(/may have run in part/);
    await expect(resume(setup, decide(approve))).rejects.toMatchObject({ code: "NOTHING_TO_RESUME" });
    expect(setup.ran).toEqual([]);
  });
});

describe("several children that ask at once", () => {
  const two = () => firm({ calls: [PAY], deputies: ["north", "south"] });

  test("are all shown, and answered by id in any order; each call runs once", async () => {
    const setup = two();
    const pending = questions(await start(setup));
    expect([...pending.keys()].sort()).toEqual(["north/clerk", "south/clerk"]);
    const [north, south] = [pending.get("north/clerk") as string, pending.get("south/clerk") as string];
    const half = await resume(setup, new Command({ resume: { [south]: { decisions: [reject] } } }));
    expect([...questions(half)]).toEqual([["north/clerk", north]]);
    await expect(
      resume(setup, new Command({ resume: { [south]: { decisions: [approve] } } })),
    ).rejects.toMatchObject({ code: "INVALID_RESUME" });
    const done = await resume(setup, new Command({ resume: { [north]: { decisions: [approve] } } }));
    expect([lastText(done), setup.ran]).toEqual(["done", [["pay", { amount: 5 }]]]);
    expect(setup.asked).toEqual({ lead: 2, deputy: 4, clerk: 4 });
  });

  test("one answer for both is refused; both stay open", async () => {
    const setup = two();
    const pending = questions(await start(setup));
    await expect(resume(setup, decide(approve))).rejects.toMatchObject({ code: "INVALID_RESUME" });
    expect(setup.ran).toEqual([]);
    const answers = [...pending.values()].map((id) => [id, { decisions: [approve] }]);
    await resume(setup, new Command({ resume: Object.fromEntries(answers) }));
    expect(setup.ran).toHaveLength(2);
  });

  test("sixteen of them, with calls of their own that need nobody", async () => {
    const deputies = Array.from({ length: 16 }, (_, i) => `d${i}`);
    const setup = firm({ calls: [PAY, LOOK, MAIL], deputies });
    const pending = questions(await start(setup));
    expect(pending.size).toBe(16);
    const all = [...pending.values()].map((id) => [id, { decisions: [approve, reject] }]);
    const state = await resume(setup, new Command({ resume: Object.fromEntries(all) }));
    expect(lastText(state)).toBe("done");
    const count = (tool: string): number => setup.ran.filter(([name]) => name === tool).length;
    expect([count("pay"), count("look"), count("mail")]).toEqual([16, 16, 0]);
  });
});

describe("what a child remembers", () => {
  const forThread = { type: "approve", remember: "thread" };

  test("holds for the same agent in the rest of the thread, and for no other", async () => {
    const setup = firm({ calls: [PAY], clerks: ["clerk"], interruptOn: GATED });
    await start(setup);
    await resume(setup, decide(forThread));
    const later = await start(setup);
    expect([later.__interrupt__, setup.ran.length]).toEqual([undefined, 2]);
    const known = (await setup.lead.getState(T)).values._approvals.remembered;
    expect(known).toMatchObject([{ tool: "pay", agentPath: ["deputy", "clerk"] }]);
  });

  test("also when the child asked again before it was done", async () => {
    const other = { ...PAY, id: "second", args: { amount: 6 } };
    const setup = firm({ calls: [PAY, other], deputies: ["north", "south"], interruptOn: GATED });
    const pending = questions(await start(setup));
    const answers = [...pending.values()].map((id) => [id, { decisions: [forThread, forThread] }]);
    await resume(setup, new Command({ resume: Object.fromEntries(answers) }));
    const later = await start(setup);
    expect([later.__interrupt__, setup.ran.length]).toEqual([undefined, 8]);
  });

  test("always is kept with the path of the agent", async () => {
    const store = new InMemoryStore();
    const setup = firm({ calls: [PAY], store });
    await start(setup);
    await resume(setup, decide({ type: "approve", remember: "always" }));
    expect(await listApprovals(store)).toMatchObject([{ tool: "pay", agentPath: ["deputy", "clerk"] }]);
    const later = await start(setup);
    expect([later.__interrupt__, setup.ran.length]).toEqual([undefined, 2]);
    const elsewhere = firm({ calls: [PAY], store, deputies: ["other"] });
    expect(requestOf(await start(elsewhere)).agentPath).toEqual(["other", "clerk"]);
  });
});
