/** Children in the streams of a run: told apart by namespace and by name. */

import { describe, expect, test } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { createSubAgentMiddleware } from "../delegation.ts";
import { callTool, say } from "../testing/index.ts";
import { acts, anyTool, asked, taskCall, tasks, troupe } from "./children-for-tests.ts";

const progress = anyTool("progress", (_, { writer }) => {
  writer?.({ done: 50 });
  return "ok";
});

function team() {
  const model = troupe({
    Go: acts(tasks(taskCall("Red.", "red"), taskCall("Blue.", "blue")), say("all done")),
    Red: acts(callTool("progress"), say("red is done")),
    Blue: acts(tasks(taskCall("Deep.", "deep")), say("blue is done")),
    Deep: acts(say("deep is done")),
  });
  const deep = { name: "deep", description: "Deep." };
  return createDeepAgent({
    model,
    name: "boss",
    tools: [progress],
    subagents: [
      { name: "red", description: "Red." },
      {
        name: "blue",
        description: "Blue.",
        middleware: [createSubAgentMiddleware({ generalPurposeAgent: false, subagents: [deep] })],
      },
    ],
  });
}

async function parts(options: object): Promise<any[]> {
  const list: any[] = [];
  for await (const part of await team().stream(asked("Go."), options as never)) list.push(part);
  return list;
}

describe("with subgraphs", () => {
  test("PAINS 27: every token has the name of its agent; joined they are what each said", async () => {
    const said: Record<string, string> = {};
    const places: Record<string, Set<number>> = {};
    for (const { type, ns, data } of await parts({
      streamMode: "messages",
      subgraphs: true,
      version: "v2",
    })) {
      expect(type).toBe("messages");
      const [token, metadata] = data;
      if (token.type !== "ai") continue;
      const name = metadata.lc_agent_name;
      said[name] = (said[name] ?? "") + token.text;
      places[name] ??= new Set();
      places[name].add(ns.filter((part: string) => part.startsWith("tools:")).length);
      if (name !== "boss") expect(ns[0]).toMatch(/^tools:/);
    }
    expect(said).toEqual({
      boss: "all done",
      red: "red is done",
      blue: "blue is done",
      deep: "deep is done",
    });
    expect(Object.fromEntries(Object.entries(places).map(([name, depths]) => [name, [...depths]]))).toEqual({
      boss: [0],
      red: [1],
      blue: [1],
      deep: [2],
    });
  });

  test("updates of a child come with its namespace, those of the agent with none", async () => {
    const list = await parts({ streamMode: "updates", subgraphs: true, version: "v2" });
    const depths = list.map(({ ns }) => ns.length);
    expect(new Set(depths)).toEqual(new Set([0, 1, 2]));
    expect(list.every(({ ns }) => ns.every((part: string) => /^(tools|model_request):/.test(part)))).toBe(
      true,
    );
  });

  test("progress that a tool of a child writes has the child's namespace", async () => {
    const list = await parts({ streamMode: ["custom"], subgraphs: true, version: "v2" });
    expect(list).toMatchObject([
      { type: "custom", ns: [expect.stringMatching(/^tools:/)], data: { done: 50 } },
    ]);
  });
});

describe("without subgraphs nothing of a child is in the stream", () => {
  test.each(["v2", undefined])("messages, version %s", async (version) => {
    const list = await parts({ streamMode: "messages", version });
    const names = list.map((part) => (version === "v2" ? part.data : part)[1].lc_agent_name);
    expect(new Set(names)).toEqual(new Set(["boss"]));
  });

  test.each(["updates", "values", "custom"])("%s", async (streamMode) => {
    const list = await parts({ streamMode, version: "v2" });
    expect(list.every(({ ns }) => ns.length === 0)).toBe(true);
    expect(JSON.stringify(list)).not.toMatch(/deep is done|"done":50/);
  });
});

test("streamEvents v3 gives the children as runs of their own", async () => {
  const run = (await team().streamEvents(asked("Go."), { version: "v3" })) as any;
  const names: string[] = [];
  const outputs: string[] = [];
  for await (const child of run.subagents) {
    names.push(child.name);
    outputs.push((await child.output)?.messages?.at(-1)?.text ?? "");
  }
  expect(names.sort()).toEqual(expect.arrayContaining(["blue", "red"]));
  expect(outputs.join()).toMatch(/is done/);
  expect((await run.output).messages.at(-1).text).toBe("all done");
});
