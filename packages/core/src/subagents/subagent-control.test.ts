/** Subagents that are stopped or told something while they work. */
import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { SUBAGENT_CONTROL_CONFIG_KEY, SubagentControl } from "../loop/task/subagent-control.ts";
import { callTool, say } from "../testing/index.ts";
import { acts, anyTool, asked, resultsOf, taskCall, tasks, troupe } from "./children-for-tests.ts";

/** Two subagents that wait in a tool; `at` is called with the namespace of each. */
function waiting(at: (order: string, namespace: string, control: SubagentControl) => unknown) {
  const control = new SubagentControl();
  const wait = anyTool("wait", async ({ order }, runtime) => {
    const { checkpoint_ns: namespace = "" } = runtime.config?.configurable ?? runtime.configurable ?? {};
    await at(order, String(namespace).split("|").slice(0, -1).join("|"), control);
    return "waited";
  });
  const model = troupe({
    Go: acts(
      tasks(taskCall("One.", "general-purpose", "c1"), taskCall("Two.", "general-purpose", "c2")),
      say("done"),
    ),
    One: acts(callTool("wait", { order: "one" }), say("one is done")),
    Two: acts(callTool("wait", { order: "two" }), say("two is done")),
  });
  const agent = createDeepAgent({ model, tools: [wait] });
  const run = () =>
    agent.invoke(asked("Go."), { configurable: { [SUBAGENT_CONTROL_CONFIG_KEY]: control } } as never);
  return { control, model, run };
}

describe("a subagent that is stopped", () => {
  test("ends alone, and its parent reads why", async () => {
    const { run } = waiting((order, namespace, control) => {
      if (order !== "one") return;
      expect(control.stop(namespace)).toBe(true);
      return new Promise(() => {});
    });
    const results = resultsOf((await run()) as never);
    expect(results.map(({ status }) => status)).toEqual(["error", "success"]);
    expect(results[0]?.text).toBe(
      "Error: The subagent 'general-purpose' did not finish. The user stopped it.",
    );
    expect(results[1]?.text).toBe("two is done");
  });
});

describe("a message for one subagent", () => {
  test("is read before its next model call, once, by it alone", async () => {
    const { run, model } = waiting((order, namespace, control) => {
      if (order !== "one") return;
      for (let n = 0; n < 2; n += 1) control.steer(namespace, { id: "m1", content: "Look left." });
    });
    await run();
    const asks = model.calls.map(({ messages }) => messages.map(({ text }) => text));
    expect(asks.filter((texts) => texts.includes("Look left."))).toEqual([
      [expect.any(String), "One.", "", "waited", "Look left."],
    ]);
  });

  test("that it has not read before its end is told to its parent", async () => {
    const control = new SubagentControl();
    const model = troupe({
      Go: acts(tasks(taskCall("One.")), say("done")),
      One: ({ messages }) => {
        expect(messages.at(-1)?.text).toBe("One.");
        control.steer(namespace, { id: "m1", content: "Too late." });
        return say("one is done");
      },
    });
    let namespace = "";
    const enter = control.enter.bind(control);
    control.enter = (place) => {
      namespace = place;
      return enter(place);
    };
    const agent = createDeepAgent({ model });
    const state = await agent.invoke(asked("Go."), {
      configurable: { [SUBAGENT_CONTROL_CONFIG_KEY]: control },
    } as never);
    const [result] = resultsOf(state as never);
    expect(result?.text).toContain("one is done");
    expect(result?.text).toContain("ended before it read it. Take it into account: Too late.");
  });

  test("or an order to stop for one that does not work here is refused", () => {
    const control = new SubagentControl();
    expect(control.stop("tools:1")).toBe(false);
    expect(control.steer("tools:1", { id: "m", content: "hi" })).toBe(false);
  });
});
