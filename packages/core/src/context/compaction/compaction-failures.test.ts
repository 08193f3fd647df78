/** Failures around a compaction, and of the compaction itself. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../../../../scripts/test-time.ts";
import { MapBackend } from "../../backends/file-map/map-backend.ts";
import { DiskSaver } from "../../loop/fixtures/disk-saver.ts";
import { callTool, fault, say } from "../../testing/index.ts";
import {
  answers,
  ask,
  compactingAgent,
  compactionOf,
  conversations,
  converse,
  countTokens,
  isSummary,
  strictModel,
  summariser,
  talk,
  thread,
  words,
} from "../fixtures/agents-for-tests.ts";

describe("a summariser that fails", () => {
  it.each([
    ["throws", () => new Error("broken")],
    ["is too busy", () => fault.rateLimit()],
    ["overflows", () => fault.contextOverflow()],
    ["says nothing", () => fault.empty()],
    ["refuses", () => fault.refusal()],
    ["never answers", () => fault.never()],
  ])("that %s is replaced by a mechanical digest", async (_name, turn) => {
    const model = strictModel(6000, ({ turn: number }) =>
      number < 50 ? callTool("talk", { words: 100 }) : say("done"),
    );
    const notes = summariser(turn as never, { maxRetries: 0 });
    const agent = compactingAgent({
      model,
      summary: { model: notes, summaryTimeout: 0.05 },
      agent: { tools: [talk] },
    });
    const result = await agent.invoke(ask("Do it."), thread());
    expect(result.messages.at(-1)?.text).toBe("done");
    expect(conversations(model).at(-1)?.[0]?.text).toContain("talk (");
    expect(model.violations).toEqual([]);
  });

  it("is stopped with the run", async () => {
    const controller = new AbortController();
    const notes = summariser(() => {
      setTimeout(() => controller.abort(), 10);
      return fault.never();
    });
    const model = strictModel(6000, () => callTool("talk", { words: 100 }));
    const agent = compactingAgent({ model, summary: { model: notes }, agent: { tools: [talk] } });
    const run = agent.invoke(ask("Go."), { ...thread(), signal: controller.signal });
    await expect(run).rejects.toThrow(/abort/i);
    expect(notes.callCount).toBe(1);
  });

  it("is asked again only after the model has spoken", async () => {
    const model = strictModel(6000, ({ turn }) =>
      turn === 30 ? new Error("down") : callTool("talk", { words: 100 }),
    );
    const notes = summariser();
    const agent = compactingAgent({ model, summary: { model: notes }, agent: { tools: [talk] } });
    await expect(agent.invoke(ask("Go."), thread())).rejects.toThrow("down");
    const before = notes.callCount;
    expect((await compactionOf(agent))?.count).toBe(before);
  });
});

describe("a run that stops between a compaction and the reply", () => {
  it("goes on without summing up or recording again", async () => {
    const backend = new MapBackend();
    const notes = summariser();
    let isDown = true;
    const model = strictModel(6000, ({ messages, turn }) => {
      if (isDown && messages.some(isSummary)) return new Error("down");
      return turn < 40 ? callTool("talk", { words: 100 }) : say("done");
    });
    const agent = compactingAgent({
      model,
      summary: { model: notes, backend },
      agent: { tools: [talk], backend },
    });
    await expect(agent.invoke(ask("Go."), thread())).rejects.toThrow("down");
    const { historyPath = "" } = (await compactionOf(agent)) ?? {};
    const before = (await backend.readRaw(historyPath)).data?.content as string | undefined;
    expect(notes.callCount).toBe(1);
    await expect(agent.invoke(null, thread())).rejects.toThrow("down");
    expect(notes.callCount).toBe(1);
    isDown = false;
    await agent.invoke(null, thread());
    const content = (await backend.readRaw(historyPath)).data?.content as string | undefined;
    expect(content?.startsWith(before ?? "")).toBe(true);
    expect(content?.match(/### User/g)).toHaveLength(1);
  });

  it("goes on in another process from what the first one stored", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "compaction-")), "thread.jsonl");
    const process = (isDown: boolean, notes: ReturnType<typeof summariser>) => {
      const model = strictModel(6000, ({ messages }) => {
        if (isDown && messages.some(isSummary)) return new Error("killed");
        return messages.some(isSummary) ? say("done") : callTool("talk", { words: 100 });
      });
      const agent = { tools: [talk], checkpointer: new DiskSaver(file) };
      return { model, agent: compactingAgent({ model, summary: { model: notes }, agent }) };
    };
    const [first, second] = [summariser(), summariser()];
    await expect(process(true, first).agent.invoke(ask("Go."), thread())).rejects.toThrow("killed");
    const { agent, model } = process(false, second);
    const result = await agent.invoke(null, thread());
    expect(result.messages.at(-1)?.text).toBe("done");
    expect([first.callCount, second.callCount]).toEqual([1, 0]);
    expect(conversations(model)[0]?.[0]?.text).toContain("NOTES 1");
    expect(model.violations).toEqual([]);
  });

  it("that stopped before the state was stored does not record a section twice", async () => {
    const backend = new MapBackend();
    let isDown = true;
    const notes = summariser(async () => (isDown ? fault.never() : "NOTES"));
    const model = strictModel(6000, ({ turn }) =>
      turn < 40 ? callTool("talk", { words: 100 }) : say("done"),
    );
    const agent = compactingAgent({
      model,
      summary: { model: notes, backend },
      agent: { tools: [talk], backend },
    });
    const history = async () =>
      (await backend.readRaw("/conversation_history/t.md")).data?.content as string | undefined;
    const controller = new AbortController();
    const run = agent.invoke(ask("Go."), { ...thread(), signal: controller.signal });
    run.catch(() => {});
    await until(async () => notes.callCount > 0 && (await history())?.includes("### User"));
    controller.abort();
    await expect(run).rejects.toThrow();
    expect(await compactionOf(agent)).toBeUndefined();
    isDown = false;
    await agent.invoke(null, thread());
    expect((await history())?.match(/### User/g)).toHaveLength(1);
  });
});

describe("a provider that refuses a request as too long", () => {
  it("R-34 is asked again with a shorter one", async () => {
    // The model takes less than its profile says.
    const model = strictModel(3500, answers, { profile: { maxInputTokens: 100_000 } });
    const notes = summariser();
    const agent = compactingAgent({ model, summary: { model: notes } });
    await converse(agent, 40);
    expect(model.violations).toEqual([]);
    expect(conversations(model).some((list) => isSummary(list[0]))).toBe(true);
    const refused = model.callCount - 40;
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(5);
  });

  it("R-34 and goes on refusing gets two more requests, each smaller, then there is a typed error", async () => {
    const model = strictModel(100_000, ({ turn }) => (turn < 12 ? answers() : fault.contextOverflow()));
    const agent = compactingAgent({ model, summary: { model: summariser() } });
    await converse(agent, 12);
    await expect(agent.invoke(ask("And now?"), thread())).rejects.toMatchObject({
      code: "CONTEXT_OVERFLOW",
      cause: expect.objectContaining({ message: expect.stringContaining("prompt is too long") }),
    });
    const sizes = model.calls.slice(12).map(({ messages }) => countTokens(messages));
    expect(sizes.length).toBeLessThanOrEqual(3);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(new Set(sizes).size).toBe(sizes.length);
  });

  it("leaves other errors alone", async () => {
    const notes = summariser();
    const model = strictModel(6000, () => fault.status(400, "max_tokens is too large"));
    const agent = compactingAgent({ model, summary: { model: notes } });
    await expect(agent.invoke(ask("Hi"), thread())).rejects.toThrow("max_tokens");
    expect(notes.callCount).toBe(0);
    expect(model.callCount).toBe(1);
  });
});

describe("what cannot be made smaller", () => {
  it("is an error that names the parts, before any summary is asked for", async () => {
    const notes = summariser();
    const model = strictModel(8000, answers);
    const agent = compactingAgent({
      model,
      summary: { model: notes },
      agent: { systemPrompt: words(10_000) },
    });
    const error = await agent.invoke(ask("Hi"), thread()).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "CONTEXT_OVERFLOW" });
    expect(error.message).toMatch(
      /system prompt \d{4,}; \d+ tools \d+ \(\w+ \d+, \w+ \d+, \w+ \d+\); message of the user/,
    );
    expect(notes.callCount).toBe(0);
    expect(model.callCount).toBe(0);
  });

  it("is not asked about again and again: a request over the trigger that fits is sent", async () => {
    const notes = summariser();
    const model = strictModel(8000, answers);
    const agent = compactingAgent({ model, summary: { model: notes, trigger: { tokens: 100 } } });
    await agent.invoke(ask(words(2000)), thread());
    expect(model.callCount).toBe(1);
    expect(notes.callCount).toBe(0);
  });
});
