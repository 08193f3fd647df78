import { expect, test } from "vitest";
import { questionsOf } from "../../approval/question.ts";
import { ApprovalPanel } from "./approval-panel.ts";

const interrupt = (id: string, ...calls: [name: string, args: object][]) => ({
  id,
  value: { actionRequests: calls.map(([name, args]) => ({ name, args })) },
});

const panelOf = (...interrupts: object[]) =>
  new ApprovalPanel(questionsOf(interrupts), "thread", (command) => command.split(" ").slice(0, 2));

test("calls of a batch are answered one by one, in order", () => {
  const panel = panelOf(
    interrupt("a", ["write_file", {}], ["delete", {}]),
    interrupt("b", ["execute", { command: "x" }]),
  );
  expect([panel.total, panel.open, panel.call?.tool]).toEqual([3, 3, "write_file"]);
  panel.approve();
  panel.reject("not this one");
  expect([panel.open, panel.call?.tool]).toEqual([1, "execute"]);
  panel.respond("42");
  expect(panel.isDone).toBe(true);
  expect(panel.answers).toEqual({
    a: { decisions: [{ type: "approve" }, { type: "reject", message: "not this one" }] },
    b: { decisions: [{ type: "respond", message: "42" }] },
  });
});

test("the rest is answered together", () => {
  const panel = panelOf(interrupt("a", ["one", {}], ["two", {}], ["three", {}]));
  panel.reject("");
  panel.decideAll({ type: "approve" });
  expect(panel.answers).toEqual({
    a: { decisions: [{ type: "reject" }, { type: "approve" }, { type: "approve" }] },
  });
});

test("changed arguments are approved as an edit, and no permission is offered for them", () => {
  const panel = panelOf(interrupt("a", ["write_file", { content: "x" }]));
  panel.edit({ content: "y" });
  expect(panel.call?.args).toEqual({ content: "y" });
  expect(panel.choices(false).map(({ act }) => act)).not.toContain("always");
  panel.approve();
  expect(panel.answers).toEqual({
    a: { decisions: [{ type: "edit", editedAction: { name: "write_file", args: { content: "y" } } }] },
  });
});

test("permissions reach from exactly this call to the project", () => {
  const panel = panelOf(interrupt("a", ["execute", { command: "npm test -- x" }]));
  expect(panel.choices(true)).toMatchObject([
    { remember: "thread" },
    { rule: { tool: "execute", prefix: ["npm", "test"], threadId: "thread" } },
    { rule: { tool: "execute", threadId: "thread" } },
    { rule: { tool: "execute", prefix: ["npm", "test"] }, isForProject: true },
  ]);
});

test("a question of a tool's own gets a text", () => {
  const panel = panelOf({ id: "q", value: "Which branch?" });
  expect(panel.choices(false).map(({ act }) => act)).toEqual(["answer"]);
  panel.respond("main");
  expect(panel.answers).toEqual({ q: "main" });
});

test("all are approved together only after all were shown", () => {
  const panel = panelOf(interrupt("a", ["one", {}], ["two", {}]), interrupt("b", ["three", {}]));
  const label = () => panel.choices(false).find(({ key }) => key === "Y")?.label;
  expect(label()).toBe("yes to all 3: shows the others first");
  expect(panel.rest.map(({ call }) => call.tool)).toEqual(["two", "three"]);
  panel.isAllShown = true;
  expect(panel.choices(false).map(({ label }) => label)).toEqual([
    "yes, run all 3 shown above",
    "no to all 3",
    "decide one by one",
  ]);
});

test("permissions are numbered without a gap", () => {
  const panel = panelOf(interrupt("a", ["write_file", {}]));
  expect(panel.choices(true).map(({ key }) => key)).toEqual(["1", "2", "3"]);
});
