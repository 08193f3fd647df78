import { InMemoryStore } from "@langchain/langgraph";
import { beforeEach, describe, expect, it } from "vitest";
import { until } from "../../../../scripts/test-time.ts";
import { MapBackend } from "../backends/file-map/map-backend.ts";
import { StateBackend } from "../backends/state/state.ts";
import { StoreBackend } from "../backends/store/store.ts";
import { PolicyBackend } from "../permissions/policy/policy.ts";
import { gate } from "../subagents/async/supervisors-for-tests.ts";
import { callTool, say } from "../testing/index.ts";
import { type Script, scriptedModel } from "../testing/scripted-model.ts";
import { createConsolidationAgent } from "./consolidation-agent.ts";
import { OWN_THREADS } from "./conversations.ts";
import { ConversationsInMemory } from "./conversations-for-tests.ts";

const MEMORY =
  "# Style\n- short answers\n- uses tabs\n- lives in Rome\n- likes figs\n- writes Go\n- hates noise\n- up early\n";

let conversations: ConversationsInMemory;
let backend: MapBackend;
beforeEach(() => {
  conversations = new ConversationsInMemory(
    {
      threadId: "t1",
      title: "Tabs",
      updatedAt: "2026-01-01T10:00:00.000Z",
      words: ["No more tabs: spaces.", "Ok."],
    },
    { threadId: "t2", updatedAt: "2026-01-02T10:00:00.000Z", words: ["Hello", "Hi"] },
  );
  backend = new MapBackend({ "/AGENTS.md": MEMORY, "/other.txt": "private" });
});

function agentWith(script: Script, options: object = {}) {
  const model = scriptedModel(script);
  const agent = createConsolidationAgent({
    model,
    conversations,
    memory: ["/AGENTS.md"],
    backend,
    ...options,
  });
  return Object.assign(agent, { model });
}

const edit = (old: string, now: string) =>
  callTool("edit_file", { file_path: "/AGENTS.md", old_string: old, new_string: now });

async function textOf(path: string, from = backend): Promise<string | undefined> {
  return (await from.readRaw(path)).data?.content as string | undefined;
}

async function historyNames(): Promise<string[]> {
  const { files = [] } = await backend.glob("*.diff", "/memory_history");
  return files.map(({ path }) => path);
}

describe("consolidate", () => {
  it("reviews what is new, changes memory, and keeps a diff of it", async () => {
    const agent = agentWith([
      callTool("search_recent_conversations", { thread_id: "t1" }),
      callTool("read_file", { file_path: "/AGENTS.md" }),
      edit("- uses tabs", "- uses spaces"),
      say("Tabs became spaces."),
    ]);
    const report = await agent.consolidate();
    expect(report).toMatchObject({
      status: "done",
      remaining: 0,
      answer: "Tabs became spaces.",
      removed: [{ path: "/AGENTS.md", line: "- uses tabs" }],
      files: [{ path: "/AGENTS.md", kind: "changed", added: ["- uses spaces"] }],
    });
    expect(report.conversations.map(({ threadId }) => threadId)).toEqual(["t1", "t2"]);
    expect(await historyNames()).toEqual([report.diffPath]);
    const diff = await textOf(report.diffPath as string);
    expect(diff).toContain("-- uses tabs\n+- uses spaces\n");
    expect(diff).toContain("it ended: done");
    const task = agent.model.calls[0]?.messages.at(-1)?.text;
    expect(task).toContain("- /AGENTS.md (8 lines)");
    expect(task).toContain("- t1 · Tabs · 2026-01-01T10:00:00.000Z · 2 messages\n- t2 · ");
  });

  it("does not look twice: the next run sees only threads that went on", async () => {
    await agentWith([say("Nothing.")]).consolidate();
    const again = agentWith([]);
    expect(await again.consolidate()).toMatchObject({ status: "nothing-new", conversations: [], files: [] });
    expect(again.model.calls).toHaveLength(0);
    conversations.conversations.push({
      threadId: "late",
      updatedAt: "2026-01-02T09:59:30.000Z",
      words: ["x"],
    });
    conversations.conversations[0] = { threadId: "t1", updatedAt: "2026-01-03T10:00:00.000Z", words: ["y"] };
    const report = await agentWith([say("Nothing.")]).consolidate();
    expect(report.conversations.map(({ threadId }) => threadId)).toEqual(["late", "t1"]);
    expect(await historyNames()).toEqual([]);
  });

  it("takes the oldest first when there are too many, and goes on with the rest", async () => {
    const first = await agentWith([say("Ok.")], { maxConversations: 1 }).consolidate();
    expect(first).toMatchObject({ remaining: 1, conversations: [{ threadId: "t1" }] });
    const second = await agentWith([say("Ok.")], { maxConversations: 1 }).consolidate();
    expect(second).toMatchObject({ remaining: 0, conversations: [{ threadId: "t2" }] });
  });

  it("leaves out what is older than since, and its own runs", async () => {
    conversations.conversations.push({
      threadId: `${OWN_THREADS}1`,
      updatedAt: "2026-01-05T00:00:00.000Z",
      words: ["Review"],
    });
    const agent = agentWith([
      callTool("search_recent_conversations", {}),
      callTool("search_recent_conversations", { query: "Review" }),
      callTool("search_recent_conversations", { thread_id: `${OWN_THREADS}1` }),
      say("Ok."),
    ]);
    const report = await agent.consolidate({ since: "2026-01-01T12:00:00Z" });
    expect(report.conversations.map(({ threadId }) => threadId)).toEqual(["t2"]);
    const told = agent.model.calls
      .at(-1)
      ?.messages.slice(-6)
      .filter((message) => message.type === "tool");
    expect(told).toHaveLength(3);
    expect(told?.slice(0, 2).map(({ text }) => text.includes(OWN_THREADS))).toEqual([false, false]);
    expect(told?.[0]?.text).toContain("- t2 · ");
    expect(told?.at(-1)?.text).toContain("There is no conversation");
  });

  it("a run that fails half-way has a diff of what it did, and is done again", async () => {
    const report = await agentWith([edit("- uses tabs\n", ""), new Error("provider down")]).consolidate();
    expect(report).toMatchObject({ status: "failed", removed: [{ line: "- uses tabs" }] });
    expect((report.error as Error).message).toContain("provider down");
    expect(await textOf(report.diffPath as string)).toMatch(/failed: .*provider down.*-- uses tabs\n/s);
    expect(await agentWith([say("Ok.")]).consolidate()).toMatchObject({
      status: "done",
      conversations: [{}, {}],
    });
  });

  it("an abort is thrown, and leaves a diff as well", async () => {
    const stop = new AbortController();
    const agent = agentWith(({ turn }) => {
      if (turn === 0) return edit("- uses tabs\n", "");
      stop.abort(new Error("stopped by me"));
      return { never: true };
    });
    await expect(agent.consolidate({ signal: stop.signal })).rejects.toThrow("stopped by me");
    expect(await historyNames()).toHaveLength(1);
    expect(await textOf("/memory_history/state.json")).not.toContain("pending");
  });

  it("puts a file back that lost more than half of its lines, and says so", async () => {
    const report = await agentWith([
      edit(MEMORY, "# Style\n- short answers\n"),
      say("Shorter."),
    ]).consolidate();
    expect(await textOf("/AGENTS.md")).toBe(MEMORY);
    expect(report).toMatchObject({
      status: "incomplete",
      removed: [],
      files: [{ refused: "6 of its 8 lines were removed, which is more than 50 %", putBack: true }],
    });
    expect(await textOf(report.diffPath as string)).toContain("it was put back");
    const allowed = agentWith([edit(MEMORY, "# Style\n- short answers\n"), say("Shorter.")], {
      maxRemoved: 0.9,
    });
    expect(await allowed.consolidate()).toMatchObject({ status: "done" });
  });

  it("puts a file back that was emptied, however small; few lines may all be reworded", async () => {
    backend = new MapBackend({ "/AGENTS.md": "- uses tabs\n" });
    await agentWith([edit("- uses tabs\n", ""), say("Ok.")]).consolidate();
    expect(await textOf("/AGENTS.md")).toBe("- uses tabs\n");
    await agentWith([edit("- uses tabs", "- uses spaces"), say("Ok.")]).consolidate();
    expect(await textOf("/AGENTS.md")).toBe("- uses spaces\n");
  });

  it("what a killed run did is told by the next one", async () => {
    const killed = agentWith([edit("- likes figs\n", ""), { never: true }]);
    const never = killed.consolidate();
    never.catch(() => {});
    await until(async () => (await textOf("/AGENTS.md")) !== MEMORY);
    const report = await agentWith([say("Ok.")]).consolidate();
    expect(await textOf(report.recoveredPath as string)).toContain("-- likes figs\n");
    expect(await textOf(report.recoveredPath as string)).toContain("did not end");
  });

  it("what somebody else writes meanwhile is not overwritten", async () => {
    const agent = agentWith(async ({ turn }) => {
      if (turn === 0) return callTool("read_file", { file_path: "/AGENTS.md" });
      if (turn === 1) {
        await backend.edit("/AGENTS.md", "- up early", "- up early\n- speaks Latin");
        return edit("- uses tabs", "- uses spaces");
      }
      return say("Ok.");
    });
    await agent.consolidate();
    expect(await textOf("/AGENTS.md")).toContain("- uses spaces");
    expect(await textOf("/AGENTS.md")).toContain("- speaks Latin");
  });

  it("reads and writes the memory files and nothing else, whatever it is told", async () => {
    const agent = agentWith([
      callTool("read_file", { file_path: "/other.txt" }),
      callTool("write_file", { file_path: "/evil.txt", content: "x" }),
      callTool("edit_file", { file_path: "/other.txt", old_string: "private", new_string: "x" }),
      callTool("write_file", { file_path: "/AGENTS.md", content: "all new" }),
      say("Ok."),
    ]);
    await agent.consolidate();
    const told = agent.model.calls.at(-1)?.messages.filter((message) => message.type === "tool") ?? [];
    expect(told.map(({ text }) => text.slice(0, 40))).toEqual([
      expect.stringContaining("permission denied for read"),
      expect.stringContaining("permission denied for write"),
      expect.stringContaining("permission denied"),
      expect.stringContaining("Cannot write to /AGENTS.md"),
    ]);
    expect(await textOf("/other.txt")).toBe("private");
    expect(agent.model.calls[0]?.tools.map((tool) => (tool as { name: string }).name).sort()).toEqual([
      "edit_file",
      "read_file",
      "search_recent_conversations",
      "write_file",
    ]);
  });

  it("nothing is changed where no record of it can be kept", async () => {
    const locked = new PolicyBackend(backend, { denyPrefixes: ["/memory_history"] });
    const agent = agentWith([], { backend: locked });
    await expect(agent.consolidate()).rejects.toMatchObject({ code: "STORAGE_UNAVAILABLE" });
    expect(agent.model.calls).toHaveLength(0);
  });

  it("a change whose diff cannot be kept is taken back", async () => {
    const full = new PolicyBackend(backend, {
      check: (operation, path) => (operation === "write" && path.endsWith(".diff") ? "disk full" : null),
    });
    const agent = agentWith([edit("- uses tabs\n", ""), say("Ok.")], { backend: full });
    await expect(agent.consolidate()).rejects.toThrow("disk full");
    expect(await textOf("/AGENTS.md")).toBe(MEMORY);
  });

  it("two at once: the second says so and ends", async () => {
    const isRefused = gate();
    const agent = agentWith(() => isRefused.opened.then(() => say("Ok.")));
    const first = agent.consolidate();
    await expect(agent.consolidate()).rejects.toMatchObject({ code: "THREAD_BUSY" });
    isRefused.open();
    expect(await first).toMatchObject({ status: "done" });
  });

  it("memory may be in a store, whose place depends on the context of the run", async () => {
    const store = new InMemoryStore();
    const inStore = new StoreBackend({
      namespace: (ctx) => [(ctx.context as { user: string }).user, "memory"],
    });
    const agent = agentWith(
      [callTool("write_file", { file_path: "/AGENTS.md", content: "- likes figs\n" }), say("Ok.")],
      { backend: inStore, store },
    );
    const report = await agent.consolidate({ context: { user: "ann" } });
    expect(report.files).toMatchObject([{ kind: "created", added: ["- likes figs"] }]);
    const kept = await store.search(["ann", "memory"]);
    expect(kept.map(({ key }) => key).sort()).toEqual(
      ["/AGENTS.md", report.diffPath, "/memory_history/state.json"].sort(),
    );
  });
});

describe("createConsolidationAgent", () => {
  it("is an agent like any other", async () => {
    const result = await agentWith([edit("- uses tabs", "- uses spaces"), say("Done.")]).invoke({
      messages: "We use spaces now",
    });
    expect(result.messages.at(-1)?.text).toBe("Done.");
    expect(await textOf("/AGENTS.md")).toContain("spaces");
  });

  it.each<[string, object, string]>([
    ["an unknown option", { since: "6h" }, "has no option 'since'"],
    ["no conversations", { conversations: undefined }, "'conversations' must be"],
    [
      "a source that cannot search",
      { conversations: { list: () => {}, read: () => {} } },
      "its method 'search' is missing",
    ],
    ["no backend", { backend: undefined }, "'backend' must name"],
    ["files of a thread", { backend: new StateBackend() }, "outlast a thread"],
    ["no memory", { memory: [] }, "'memory' must be a list"],
    ["a path that leads out", { memory: ["/../x"] }, "Path traversal"],
    ["a share above all", { maxRemoved: 50 }, "from 0 to 1"],
  ])("%s is refused when it is made", (_, options, words) => {
    expect(() => agentWith([], options)).toThrow(words);
  });
});
