import { interrupt } from "@langchain/langgraph";
import { createDeepAgent } from "deepwright";
import { callTool, say, scriptedModel } from "deepwright/testing";
import { createMiddleware } from "langchain";
import { expect, test } from "vitest";
import { type Ask, saying, twoTenants } from "../http/two-tenants-for-tests.ts";

/** Asks for a write of what it is told, with the path first. */
function writer() {
  const model = scriptedModel(
    ({ messages }) => {
      const last = messages.at(-1);
      if (last?.getType() === "tool") return say("done");
      const [file_path = "", ...words] = String(last?.text).split(" ");
      return callTool("write_file", { file_path, content: words.join(" ") });
    },
    { record: false },
  );
  const allowedDecisions = ["approve", "reject"] as const;
  return createDeepAgent({ model, interruptOn: { write_file: { allowedDecisions } } });
}

/** Asks something that is about no call. */
function asking() {
  const asks = createMiddleware({ name: "asks", beforeModel: () => void interrupt("which colour?") });
  return createDeepAgent({
    model: scriptedModel(() => say("ok"), { record: false }),
    middleware: [asks],
  });
}

const waitingRun = async (ask: Ask, assistant_id: string, text: string): Promise<string> => {
  const { body } = await ask("POST", "/threads", {});
  await ask("POST", `/threads/${body.thread_id}/runs/wait`, { ...saying(text), assistant_id });
  return body.thread_id;
};

const agents = () => ({ writer: writer(), asking: asking() });

test.each(["SQLite", "Postgres"] as const)(
  "on %s, what waits in any thread is listed with its calls and warnings, to its owner alone",
  async (place) => {
    const { alice, bob } = await twoTenants(place, agents());
    const odd = await waitingRun(alice, "writer", "/.git/hooks/pre-commit a\u202eb");
    const plain = await waitingRun(alice, "writer", "/a.md words");
    const question = await waitingRun(alice, "asking", "go");
    const { body } = await alice("GET", "/approvals");
    expect(body.total).toBe(3);
    expect(body.approvals.map((each: { thread_id: string }) => each.thread_id)).toEqual([
      odd,
      plain,
      question,
    ]);
    const [first, second, third] = body.approvals;
    expect(first.calls[0].warnings).toEqual([
      expect.stringContaining("content: 1 character that turns the direction of text"),
      "file_path: this file controls other programs",
    ]);
    expect(second).toMatchObject({
      interrupt_id: expect.any(String),
      waiting_since: expect.any(String),
      calls: [
        {
          name: "write_file",
          args: { file_path: "/a.md", content: "words" },
          allowed_decisions: ["approve", "reject"],
          warnings: [],
        },
      ],
    });
    expect(third).toMatchObject({ calls: [], question: "which colour?" });
    expect((await bob("GET", "/approvals")).body).toMatchObject({ approvals: [], total: 0 });
    const answer = { value: { decisions: [{ type: "approve" }] } };
    const path = `/threads/${plain}/interrupts/${second.interrupt_id}`;
    expect((await bob("POST", path, answer)).status).toBe(404);
    const answers = await Promise.all([alice("POST", path, answer), alice("POST", path, answer)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  },
);

test("a reader that has seen the list waits for the next change, and is told the same list without one", async () => {
  const { alice } = await twoTenants("SQLite", agents());
  const { body: empty } = await alice("GET", "/approvals");
  const waits = alice("GET", `/approvals?after=${empty.cursor}&wait=25`);
  const thread = await waitingRun(alice, "writer", "/a.md words");
  const { body: one } = await waits;
  expect(one.approvals.map((each: { thread_id: string }) => each.thread_id)).toEqual([thread]);
  const same = await alice("GET", `/approvals?after=${one.cursor}&wait=1`);
  expect(same.body).toEqual(one);
  const gone = alice("GET", `/approvals?after=${one.cursor}&wait=25`);
  await alice("POST", `/threads/${thread}/interrupts/${one.approvals[0].interrupt_id}`, {
    value: { decisions: [{ type: "reject", message: "no" }] },
  });
  expect((await gone).body.approvals).toEqual([]);
});
