import { describe, expect, it } from "vitest";
import { type ApprovalMode, Approver, isAttended } from "./approver.ts";
import type { Decision } from "./question.ts";

function interrupt(id: string, tools: readonly string[], more: object = {}, allowed?: readonly string[]) {
  const value = {
    actionRequests: tools.map((name) => ({ name, args: {}, description: "" })),
    reviewConfigs: tools.map((actionName) => ({
      actionName,
      ...(allowed ? { allowedDecisions: allowed } : {}),
    })),
    ...more,
  };
  return { id, value };
}

function approver(mode: ApprovalMode, first?: Decision): Approver {
  return new Approver({ mode, first }, {} as never);
}

describe("who answers", () => {
  it("deny: every call of every question, by id; what was denied is kept (HI-10)", async () => {
    const denying = approver("deny");
    const reply = await denying.reply([
      interrupt("1", ["a", "b"]),
      interrupt("2", ["c"], { agentPath: ["clerk"] }),
    ]);
    const no = { type: "reject", message: expect.stringContaining("Go on without it"), unattended: true };
    expect(reply).toEqual({
      kind: "answers",
      answers: { 1: { decisions: [no, no] }, 2: { decisions: [no] } },
    });
    expect(denying.denied).toEqual([
      { tool: "a", agentPath: [] },
      { tool: "b", agentPath: [] },
      { tool: "c", agentPath: ["clerk"] },
    ]);
  });

  it.each([
    ["a question of a tool's own", [{ id: "1", value: "Which colour?" }]],
    ["a call that cannot be rejected", [interrupt("1", ["a"], {}, ["approve"])]],
    [
      "a call beside it that cannot be rejected",
      [
        interrupt("1", ["a", "b"], {
          reviewConfigs: [{ actionName: "a" }, { actionName: "b", allowedDecisions: ["approve"] }],
        }),
      ],
    ],
    ["an answer that was refused before", [interrupt("1", ["a"], { error: "no" })]],
  ])("deny: %s waits, and is never approved", async (_, interrupts) => {
    const denying = approver("deny");
    expect(await denying.reply(interrupts)).toEqual({ kind: "waits", left: false });
    expect(denying.denied).toEqual([]);
  });

  it("deny: what was open before the run is left open", async () => {
    expect((await approver("deny").reply([interrupt("1", ["a"])], true)).kind).toBe("waits");
  });

  it("an answer of the command line is for what is open at first only", async () => {
    const first: Decision = { type: "reject", message: "no" };
    const answering = approver("wait", first);
    expect(await answering.reply([interrupt("1", ["a"])], true)).toMatchObject({
      answers: { 1: { decisions: [first] } },
    });
    expect((await answering.reply([interrupt("2", ["a"])])).kind).toBe("waits");
  });

  it("approve: all of them", async () => {
    const yes = { type: "approve" };
    expect(await approver("approve").reply([interrupt("1", ["a", "b"])])).toMatchObject({
      answers: { 1: { decisions: [yes, yes] } },
    });
  });

  it.each([
    [true, true, {}, true],
    [true, true, { CI: "false" }, true],
    [true, true, { CI: "" }, true],
    [true, true, { CI: "1" }, false],
    [false, true, {}, false],
    [true, false, {}, false],
  ])("stdin %s, stderr %s, %o: attended %s", (stdin, stderr, environment, attended) => {
    const person = { stdin: { isTTY: stdin }, stderr: { isTTY: stderr } } as never;
    expect(isAttended(person, environment)).toBe(attended);
  });
});
