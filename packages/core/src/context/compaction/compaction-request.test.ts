/** The newest request of a person stands beside every summary, unchanged. */
import { describe, expect, it } from "vitest";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import { callTool, type ScriptedModel, say } from "../../testing/index.ts";
import {
  ask,
  compactingAgent,
  compactionOf,
  conversations,
  isSummary,
  strictModel,
  summariser,
  talk,
  thread,
  words,
} from "../fixtures/agents-for-tests.ts";

const WINDOW = 8000;

const rules = (count: number): string =>
  Array.from({ length: count }, (_, i) => `${i + 1}. Rule ${i}: never touch the file number ${i * 7}.`).join(
    "\n",
  );

const talking = (turns: number): ScriptedModel =>
  strictModel(WINDOW, ({ turn }) => (turn < turns ? callTool("talk", { words: 150 }) : say("done")));

/** The different summaries in the order they were seen. */
const summariesOf = (model: ScriptedModel): string[] => [
  ...new Set(
    conversations(model)
      .map((list) => list[0])
      .filter(isSummary)
      .map((message) => message?.text ?? ""),
  ),
];

const toldIn = (summary: string): string =>
  /^The user's latest request[\s\S]*?<\/request>/m.exec(summary)?.[0] ?? "";

async function summariesAfter(request: string, backend = new MapBackend()) {
  const model = talking(160);
  const agent = compactingAgent({
    model,
    summary: { model: summariser(({ turn }) => `${turn} ${words(150)}`), backend },
    agent: { tools: [talk], backend },
  });
  await agent.invoke(ask(request), thread());
  expect((await compactionOf(agent))?.count).toBeGreaterThanOrEqual(5);
  expect(model.violations).toEqual([]);
  return summariesOf(model);
}

describe("the latest request beside a summary", () => {
  it("is whole and word for word over five compactions where there is room for it", async () => {
    const request = rules(55);
    const told = (await summariesAfter(request)).map(toldIn);
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(new Set(told)).toEqual(
      new Set([`The user's latest request, word for word:\n<request>\n${request}\n</request>`]),
    );
  });

  it("is never called word for word when it is shortened, stays the same, and says where all of it is", async () => {
    const request = rules(100);
    const backend = new MapBackend();
    const summaries = await summariesAfter(request, backend);
    expect(summaries.length).toBeGreaterThanOrEqual(5);
    expect(summaries.join()).not.toContain("word for word");
    expect(new Set(summaries.map(toldIn)).size).toBe(1);
    const told = toldIn(summaries[0] as string);
    const path = /\(shortened; all of it is in (\S+)\):\n<request>/.exec(told)?.[1] ?? "";
    expect((await backend.readRaw(path)).data?.content).toContain(request);
    const [head = "", tail = ""] = (/<request>\n([\s\S]*)\n<\/request>/.exec(told)?.[1] ?? "").split(
      "\n[… a part is left out here …]\n",
    );
    expect(request.startsWith(head)).toBe(true);
    expect(request.endsWith(tail)).toBe(true);
    expect(head.length + tail.length).toBeGreaterThan(request.length / 3);
  });

  it("names the file of a message that was too long to be shown at all", async () => {
    const request = rules(500);
    const backend = new MapBackend();
    const told = toldIn((await summariesAfter(request, backend))[0] as string);
    const path = /\(shortened; all of it is in (\S+)\):/.exec(told)?.[1] ?? "";
    expect((await backend.readRaw(path)).data?.content).toBe(request);
    expect(told).toContain("<request>\n1. Rule 0: never touch the file number 0.\n");
  });

  it("says that the rest is lost where no record could be kept", async () => {
    const model = talking(60);
    const backend = { ls: () => ({ files: [] }) } as never;
    const agent = compactingAgent({
      model,
      summary: { model: summariser(), backend },
      agent: { tools: [talk] },
    });
    await agent.invoke(ask(rules(100)), thread());
    expect(toldIn(summariesOf(model)[0] ?? "")).toMatch(
      /^The user's latest request \(shortened; the rest could/,
    );
  });

  it("is the newest one, not the first", async () => {
    const model = strictModel(WINDOW, ({ turn }) =>
      turn % 60 === 59 ? say("done") : callTool("talk", { words: 150 }),
    );
    const agent = compactingAgent({ model, summary: { model: summariser() }, agent: { tools: [talk] } });
    await agent.invoke(ask("The first."), thread());
    await agent.invoke(ask("The second."), thread());
    const told = summariesOf(model).map(toldIn);
    expect(told[0]).toContain("The first.");
    expect(told.at(-1)).toContain("\nThe second.\n");
    expect(told.at(-1)).not.toContain("The first.");
  });
});

describe("a todo list beside a summary", () => {
  const summaryWith = async (count: number): Promise<string> => {
    const todos = Array.from({ length: count }, (_, i) => ({
      content: `Do the thing number ${i} with all due care`,
      status: "pending",
    }));
    const model = strictModel(20_000, ({ turn }) =>
      turn === 0
        ? callTool("write_todos", { todos })
        : turn < 80
          ? callTool("talk", { words: 300 })
          : say("done"),
    );
    const agent = compactingAgent({ model, summary: { model: summariser() }, agent: { tools: [talk] } });
    await agent.invoke(ask("Go."), thread());
    return summariesOf(model).at(-1) ?? "";
  };

  it("says that it is shortened and where all of it is", async () => {
    const summary = await summaryWith(200);
    expect(summary).toMatch(/characters left out/);
    expect(summary).toContain(
      "(shortened; all of it is in your last write_todos call, below or in /conversation_history/t.md)",
    );
  });

  it("says nothing of the kind when it is whole", async () => {
    const summary = await summaryWith(5);
    expect(summary).toContain("- [ ] Do the thing number 4 with all due care");
    expect(summary).not.toContain("shortened");
  });
});
