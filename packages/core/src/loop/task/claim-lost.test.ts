/** A run whose thread another took over: it does nothing more. */
import { ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { describe, expect, test } from "vitest";
import { callTool, say } from "../../testing/index.ts";
import { type AgentState, anyTool, ask, onThread, outline } from "../fixtures/agents.ts";
import { claiming, echo } from "../fixtures/claiming-agent.ts";

const T = onThread("t");

describe("a claim that is lost", () => {
  const forgiving = createMiddleware({
    name: "forgiving",
    wrapToolCall: async (request, handler) => {
      try {
        return await handler(request);
      } catch {
        return new ToolMessage({ content: "never mind", tool_call_id: request.toolCall.id ?? "" });
      }
    },
  });

  test.each<["at once" | "late", boolean]>([
    ["at once", false],
    ["at once", true],
    ["late", false],
    ["late", true],
  ])("ends the run before its next effect (heard %s, forgiving middleware: %s)", async (heard, forgives) => {
    const effects: string[] = [];
    const steal = createMiddleware({
      name: "steal",
      wrapToolCall: (request, handler) => {
        if (request.toolCall.name === "second") setup.saver.takeOver("t", heard);
        return handler(request);
      },
    });
    const tools = ["first", "second"].map((name) => anyTool(name, () => void effects.push(name)));
    const setup = claiming([callTool("first"), callTool("second"), say("done")], {
      tools,
      middleware: forgives ? [forgiving, steal] : [steal],
    });
    const chunks: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const chunk of await setup.agent.stream(ask(), T)) chunks.push(chunk);
    };
    await expect(read()).rejects.toMatchObject({ code: "CLAIM_LOST" });
    expect(JSON.stringify(chunks)).not.toContain("never mind");
    expect(effects).toEqual(["first"]);
    expect(setup.model.calls).toHaveLength(2);
    const { values } = await setup.agent.getState(T);
    expect(outline((values as AgentState).messages).join()).not.toContain("never mind");
  });

  test("keeps the model from being asked", async () => {
    const steal = createMiddleware({
      name: "steal",
      wrapModelCall: async (request, handler) => {
        setup.saver.takeOver("t", "late");
        return Promise.resolve(handler(request)).catch(() => handler(request));
      },
    });
    const setup = claiming(echo, { middleware: [steal] });
    await expect(setup.agent.invoke(ask(), T)).rejects.toMatchObject({ code: "CLAIM_LOST" });
    expect(setup.model.calls).toHaveLength(0);
  });

  test.each(["sync", "async", "exit"] as const)(
    "shows when storage refuses a write (%s)",
    async (durability) => {
      const after = createMiddleware({
        name: "after",
        afterAgent: () => setup.saver.takeOver("t", "late"),
      });
      const setup = claiming(echo, { middleware: [after] });
      const run = setup.agent.invoke(ask(), { ...T, durability } as never);
      await expect(run).rejects.toMatchObject({ code: "CLAIM_LOST" });
    },
  );

  test("stops a tool that listens, and a stream tells the reason", async () => {
    let heard: unknown;
    const slow = anyTool("slow", async (_, { signal }) => {
      setTimeout(() => setup.saver.takeOver("t", "at once"), 5);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      heard = signal.reason;
    });
    const setup = claiming([callTool("slow"), say("done")], { tools: [slow] });
    const read = async (): Promise<void> => {
      for await (const _ of await setup.agent.stream(ask(), T));
    };
    await expect(read()).rejects.toMatchObject({ code: "CLAIM_LOST" });
    expect(heard).toMatchObject({ code: "CLAIM_LOST" });
  });

  test("in a nested run ends the whole run", async () => {
    const { agent: child } = claiming([callTool("steal"), say("child done")], {
      tools: [anyTool("steal", () => setup.saver.takeOver("t", "late"))],
    });
    const delegate = anyTool("delegate", (_, config) => child.invoke(ask(), config).then(() => "done"));
    const setup = claiming([callTool("delegate"), say("done")], { tools: [delegate] });
    await expect(setup.agent.invoke(ask(), T)).rejects.toMatchObject({ code: "CLAIM_LOST" });
    expect(setup.model.calls).toHaveLength(1);
  });
});
