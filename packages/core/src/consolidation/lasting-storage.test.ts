import { beforeEach, describe, expect, it } from "vitest";
import type { BackendRuntime } from "../backends/backend.ts";
import { CompositeBackend } from "../backends/composite/composite.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import type { BackendSource } from "../backends/resolve.ts";
import { StateBackend } from "../backends/state/state.ts";
import { PolicyBackend } from "../permissions/policy/policy.ts";
import { callTool, say } from "../testing/index.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { createConsolidationAgent } from "./consolidation-agent.ts";
import { ConversationsInMemory } from "./conversations-for-tests.ts";

let lasting: MapBackend;
beforeEach(() => {
  lasting = new MapBackend();
});

function agentWith(
  backend: BackendSource,
  options: object = {},
  turns?: Parameters<typeof scriptedModel>[0],
) {
  const [path = ""] = (options as { memory?: string[] }).memory ?? ["/AGENTS.md"];
  const model = scriptedModel(
    turns ?? [callTool("write_file", { file_path: path, content: "- likes figs\n" }), say("Ok.")],
  );
  const agent = createConsolidationAgent({
    model,
    conversations: new ConversationsInMemory({
      threadId: "t1",
      updatedAt: "2026-01-01T10:00:00.000Z",
      words: ["I like figs.", "Ok."],
    }),
    memory: ["/AGENTS.md"],
    backend,
    ...options,
  });
  return Object.assign(agent, { model });
}

describe("a place in the state of a thread", () => {
  const state = () => new StateBackend();
  const mixed = () => new CompositeBackend(state(), { "/memory_history/": lasting });
  it.each<[string, () => BackendSource, string]>([
    ["memory in the default of a composite", mixed, "'/AGENTS.md' (option 'memory')"],
    [
      "the history in a route",
      () => new CompositeBackend(lasting, { "/memory_history/": state() }),
      "'/memory_history/state.json' (option 'historyDirectory')",
    ],
    ["memory behind a policy", () => new PolicyBackend(mixed()), "'/AGENTS.md' (option 'memory')"],
    ["all of it behind a policy", () => new PolicyBackend(state()), "'/AGENTS.md' (option 'memory')"],
    ["what a factory makes", () => () => mixed(), "'/AGENTS.md' (option 'memory')"],
    [
      "what a factory makes of the run",
      () => (runtime: BackendRuntime) => new StateBackend(runtime),
      "'/AGENTS.md' (option 'memory')",
    ],
  ])("is refused before a model is asked: %s", async (_, make, words) => {
    const agent = agentWith(make());
    await expect(agent.consolidate()).rejects.toMatchObject({
      name: "ConfigurationError",
      code: "INVALID_OPTION",
      message: expect.stringContaining(`${words} lies in the state of a thread`),
      hint: expect.stringContaining("outlives"),
    });
    expect(agent.model.calls).toHaveLength(0);
    expect((await lasting.glob("**/*", "/")).files).toEqual([]);
  });

  it("may be beside the memory files", async () => {
    const backend = new CompositeBackend(new StateBackend(), { "/memories/": lasting });
    const agent = agentWith(backend, {
      memory: ["/memories/AGENTS.md"],
      historyDirectory: "/memories/history",
    });
    expect(await agent.consolidate()).toMatchObject({
      status: "done",
      files: [{ path: "/memories/AGENTS.md", kind: "created" }],
    });
    expect((await lasting.readRaw("/AGENTS.md")).data?.content).toBe("- likes figs\n");
  });
});

describe("a backend that is another one each time", () => {
  it("is refused where it takes the record with it", async () => {
    const agent = agentWith(() => new MapBackend());
    await expect(agent.consolidate()).rejects.toMatchObject({
      code: "STORAGE_UNAVAILABLE",
      message: expect.stringContaining("What was written to '/memory_history/state.json' is not there"),
    });
    expect(agent.model.calls).toHaveLength(0);
  });

  const fresh = (files: Record<string, string>) => () =>
    new CompositeBackend(new MapBackend(files), { "/memory_history/": lasting });

  it.each<[string, Record<string, string>, Parameters<typeof scriptedModel>[0] | undefined]>([
    ["a new file", {}, undefined],
    [
      "a change",
      { "/AGENTS.md": "- likes nuts\n" },
      [
        callTool("edit_file", { file_path: "/AGENTS.md", old_string: "nuts", new_string: "figs" }),
        say("Ok."),
      ],
    ],
  ])("fails where it takes %s with it, and the threads wait for the next run", async (_, files, turns) => {
    const report = await agentWith(fresh(files), {}, turns).consolidate();
    expect(report).toMatchObject({
      status: "failed",
      files: [],
      error: { code: "STORAGE_UNAVAILABLE", message: expect.stringContaining("'/AGENTS.md' is not there") },
    });
    expect(await agentWith(lasting).consolidate()).toMatchObject({
      status: "done",
      conversations: [{ threadId: "t1" }],
    });
  });
});

it("a change that is taken back in the same run is no loss", async () => {
  await lasting.write("/AGENTS.md", "- likes nuts\n");
  const edit = (old: string, now: string) =>
    callTool("edit_file", { file_path: "/AGENTS.md", old_string: old, new_string: now });
  const turns = [edit("nuts", "figs"), edit("figs", "nuts"), say("Ok.")];
  expect(await agentWith(lasting, {}, turns).consolidate()).toMatchObject({ status: "done", files: [] });
});
