/** Approvals that hold for a thread or a project: for exactly the call that was approved. */
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { isApprovedCall } from "../../backends/approved-call.ts";
import type { ScriptedCall } from "../../testing/index.ts";
import { type AgentState, ask, onThread, scripted } from "../fixtures/agents.ts";
import {
  approve,
  contents,
  decide,
  edit,
  officeTools,
  type Ran,
  reject,
  requestOf,
} from "../fixtures/office.ts";
import { listApprovals, projectOf, rememberedCall, revokeApproval } from "./approval-memory.ts";
import type { CallGate } from "./approval-policy.ts";

const forThread = { type: "approve", remember: "thread" };
const always = { type: "approve", remember: "always" };
const run = (command: string): Omit<ScriptedCall, "id"> => ({ name: "execute", args: { command } });

type Setup = Partial<
  Parameters<typeof scripted>[1] & { project: string; thread: string; user: string; serverInfo: object }
>;

function storeThat(what: "fails" | "is silent", isMeant: (operation: object) => boolean): InMemoryStore {
  const store = new InMemoryStore();
  const batch = store.batch.bind(store);
  store.batch = (async (operations: never) => {
    if (!(operations as object[]).some(isMeant)) return batch(operations);
    if (what === "fails") throw new Error("store is down");
    return new Promise(() => {});
  }) as never;
  return store;
}

const isWrite = (operation: object): boolean => "value" in operation;

/** Each `ask` makes the model call the next of `calls`; ids are new every time. */
function shell(calls: readonly (readonly Omit<ScriptedCall, "id">[])[], setup: Setup = {}) {
  const { project, thread = "t", user, serverInfo, ...options } = setup;
  const ran: Ran = [];
  const configs: any[] = [];
  let turns = 0;
  const { agent } = scripted(
    ({ messages }) => {
      if (messages.at(-1)?.content !== "Go.") return "done";
      turns += 1;
      return { toolCalls: (calls[turns - 1] ?? []).map((call, i) => ({ ...call, id: `c${turns}-${i}` })) };
    },
    {
      tools: officeTools(ran, configs),
      interruptOn: { execute: true, pay: true },
      checkpointer: new MemorySaver(),
      ...options,
    },
  );
  const T = {
    ...onThread(thread, {
      ...(project !== undefined && { project }),
      ...(user !== undefined && { langgraph_auth_user_id: user }),
    }),
    ...(serverInfo && { serverInfo }),
  };
  return {
    ...{ ran, configs, agent, T },
    ask: async () => (await agent.invoke(ask(), T)) as AgentState,
    decide: async (...decisions: unknown[]) => (await agent.invoke(decide(...decisions), T)) as AgentState,
  };
}

const isWaiting = (state: AgentState): boolean => state.__interrupt__ !== undefined;

describe("for the thread", () => {
  test("the same call is not asked about again, whatever the order of its arguments", async () => {
    const once = { name: "execute", args: { command: "ls", timeout: 5 } };
    const { ask, decide, ran, configs } = shell([
      [once],
      [once],
      [{ name: "execute", args: { timeout: 5, command: "ls" } }],
    ]);
    await ask();
    await decide(forThread);
    expect([isWaiting(await ask()), isWaiting(await ask()), ran.length]).toEqual([false, false, 3]);
    expect(configs.map(isApprovedCall)).toEqual([true, true, true]);
  });

  test("an approval that is not remembered is asked for again", async () => {
    const { ask, decide } = shell([[run("ls")], [run("ls")]]);
    await ask();
    await decide(approve);
    expect(isWaiting(await ask())).toBe(true);
  });

  test.each([
    [run("ls -a")],
    [run("ls ")],
    [run("ls; rm -rf /")],
    [{ name: "execute", args: { command: "ls", timeout: 1 } }],
    [{ name: "pay", args: { amount: 1 } }],
  ])("another call is asked about: %j", async (other) => {
    const { ask, decide, ran } = shell([[run("ls")], [other]]);
    await ask();
    await decide(forThread);
    expect([isWaiting(await ask()), ran.length]).toEqual([true, 1]);
  });

  test("beside a remembered call only the other one is asked about; both run", async () => {
    const { ask, decide, ran } = shell([[run("ls")], [run("ls"), run("make")]]);
    await ask();
    await decide(forThread);
    expect(requestOf(await ask()).actionRequests).toMatchObject([{ args: { command: "make" } }]);
    const state = await decide(approve);
    expect([contents(state).length, ran.length]).toEqual([3, 3]);
  });

  test("other threads know nothing of it", async () => {
    const checkpointer = new MemorySaver();
    const one = shell([[run("ls")]], { checkpointer });
    await one.ask();
    await one.decide(forThread);
    const other = shell([[run("ls")]], { checkpointer, thread: "u" });
    expect(isWaiting(await other.ask())).toBe(true);
  });

  test("it holds where the calls take effect, if the policy names that, and in no other place", async () => {
    const checkpointer = new MemorySaver();
    const at = (place: string | undefined) =>
      shell([[run("ls")]], { checkpointer, interruptOn: { execute: { rememberedFor: place as string } } });
    const one = at("cloud");
    await one.ask();
    await one.decide(forThread);
    expect(isWaiting(await at("cloud").ask())).toBe(false);
    for (const place of ["this machine", undefined]) {
      const other = at(place);
      expect(isWaiting(await other.ask())).toBe(true);
      await other.decide(reject);
    }
  });

  test("it outlives the program, with the thread", async () => {
    const checkpointer = new MemorySaver();
    const one = shell([[run("ls")]], { checkpointer });
    await one.ask();
    await one.decide(forThread);
    const later = shell([[run("ls")]], { checkpointer });
    expect(isWaiting(await later.ask())).toBe(false);
  });

  test("what is kept can be read, is not long, and stays out of the result", async () => {
    const { ask, decide, agent, T } = shell([[run(`echo ${"x".repeat(10_000)}`)]]);
    await ask();
    const state = await decide(forThread);
    const { remembered } = (await agent.getState(T)).values._approvals;
    expect(remembered).toMatchObject([
      { tool: "execute", call: expect.stringContaining('{"command":"echo x') },
    ]);
    expect(JSON.stringify(remembered).length).toBeLessThan(2_500);
    expect(Object.keys(state)).not.toContain("_approvals");
  });

  test("only a limited number is kept; the oldest are asked about again", async () => {
    const commands = Array.from({ length: 510 }, (_, i) => run(`echo ${i}`));
    const { ask, decide, agent, T } = shell([commands, [run("echo 0")], [run("echo 509")]]);
    await ask();
    await decide(...commands.map(() => forThread));
    expect((await agent.getState(T)).values._approvals.remembered).toHaveLength(500);
    expect(isWaiting(await ask())).toBe(true);
    await decide(reject);
    expect(isWaiting(await ask())).toBe(false);
  });
});

describe("always", () => {
  test("holds in other threads and programs of the same project, and in no other", async () => {
    const store = new InMemoryStore();
    const one = shell([[run("ls")]], { store, project: "shop" });
    await one.ask();
    await one.decide(always);
    const same = shell([[run("ls")]], { store, project: "shop", thread: "u" });
    expect(isWaiting(await same.ask())).toBe(false);
    expect(isApprovedCall(same.configs[0])).toBe(true);
    for (const project of ["shop2", "Shop", "default"]) {
      const other = shell([[run("ls")]], { store, project, thread: "u" });
      expect(isWaiting(await other.ask())).toBe(true);
    }
    expect(isWaiting(await shell([[run("ls")]], { store }).ask())).toBe(true);
  });

  test.each(["python3 -c 'print(1)'", "bash", "*", "sh -c ls", "node -e 1", "sudo ls", "rm *"])(
    "HI-09 %s is remembered as just this command",
    async (command) => {
      const store = new InMemoryStore();
      const { ask, decide, ran } = shell(
        [[run(command)], [run(command)], [run(`${command} `)], [run(`${command} -c 'rm -rf /'`)], [run("x")]],
        { store, project: "p" },
      );
      await ask();
      await decide(always);
      expect(isWaiting(await ask())).toBe(false);
      for (let i = 0; i < 3; i += 1) {
        expect(isWaiting(await ask())).toBe(true);
        await decide(reject);
      }
      expect(ran.map(([, args]) => args)).toEqual([{ command }, { command }]);
    },
  );

  test("what is remembered can be listed and taken back", async () => {
    const store = new InMemoryStore();
    const { ask, decide } = shell([[run("ls"), run("make")], [run("ls")], [run("make")]], {
      store,
      project: "my.shop/ü",
    });
    await ask();
    await decide(always, always);
    const known = await listApprovals(store, "my.shop/ü");
    expect(known.map(({ tool, call }) => [tool, call]).sort()).toEqual([
      ["execute", 'execute {"command":"ls"}'],
      ["execute", 'execute {"command":"make"}'],
    ]);
    expect(known.every(({ approvedAt }) => !Number.isNaN(Date.parse(approvedAt)))).toBe(true);
    const ls = known.find(({ call }) => call.includes("ls"))?.id as string;
    expect(await revokeApproval(store, "other", ls)).toBe(false);
    expect(await revokeApproval(store, "my.shop/ü", ls)).toBe(true);
    expect(await revokeApproval(store, "my.shop/ü", ls)).toBe(false);
    expect(await listApprovals(store, "my.shop/ü")).toHaveLength(1);
    expect(await listApprovals(store)).toEqual([]);
    expect(isWaiting(await ask())).toBe(true);
    await decide(reject);
    expect(isWaiting(await ask())).toBe(false);
  });

  test.each([
    ["serverInfo", (identity: string) => ({ serverInfo: { user: { identity } } })],
    ["what LangGraph's servers say", (user: string) => ({ user })],
  ])("holds for the user who gave it alone, where a server says who that is: %s", async (_, as) => {
    const store = new InMemoryStore();
    const of = (user: object) => shell([[run("ls")]], { store, project: "shop", thread: "u", ...user });
    const ann = of(as("ann@x.org"));
    await ann.ask();
    await ann.decide(always);
    expect(isWaiting(await of(as("ann@x.org")).ask())).toBe(false);
    for (const other of ["bob", "ann", "ann@x%2Eorg", "*"])
      expect(isWaiting(await of(as(other)).ask()), other).toBe(true);
    expect(isWaiting(await of({}).ask())).toBe(true);
    const bob = of(as("bob"));
    await bob.ask();
    await bob.decide(always);
    expect((await listApprovals(store, "shop")).map(({ identity }) => identity)).toEqual([
      "ann@x.org",
      "bob",
    ]);
    const [given] = await listApprovals(store, "shop", "bob");
    expect(await revokeApproval(store, "shop", given?.id as string, "bob")).toBe(true);
    expect(await listApprovals(store, "shop", "bob")).toEqual([]);
    expect(isWaiting(await of(as("ann@x.org")).ask())).toBe(false);
    expect(await revokeApproval(store, "shop", given?.id as string)).toBe(true);
    expect(isWaiting(await of(as("ann@x.org")).ask())).toBe(true);
  });

  test.each<[object, string]>([
    [{}, "default"],
    [{ configurable: { project: "p", assistant_id: "c" } }, "p"],
    [{ configurable: { project: "", assistant_id: "c" } }, "c"],
    [{ configurable: { project: 7 }, metadata: { assistant_id: "m" } }, "m"],
    [{ metadata: { assistant_id: "m" }, serverInfo: { assistantId: "s" } }, "s"],
  ])("the project of a run with %j is %s", (config, expected) => {
    expect(projectOf(config)).toBe(expected);
  });

  test("a project has a name", async () => {
    for (const project of ["", 7, null])
      await expect(listApprovals(new InMemoryStore(), project as string)).rejects.toMatchObject({
        code: "INVALID_NAMESPACE",
      });
  });

  test("only the approval of a subagent says whose it is", () => {
    const shape = { id: "1", text: "ls" };
    expect(rememberedCall(shape, "execute", [])).not.toHaveProperty("agentPath");
    expect(rememberedCall(shape, "execute", ["researcher"])).toMatchObject({ agentPath: ["researcher"] });
  });

  test("more than a page of them is listed", async () => {
    const store = new InMemoryStore();
    const commands = Array.from({ length: 230 }, (_, i) => run(`echo ${i}`));
    const { ask, decide } = shell([commands], { store });
    await ask();
    await decide(...commands.map(() => always));
    expect(await listApprovals(store)).toHaveLength(230);
  });

  test("without a store it is no decision: asked again with the reason", async () => {
    const { ask, decide, ran } = shell([[run("ls")]]);
    await ask();
    const again = await decide(always);
    expect(requestOf(again).error).toMatch(/no store/);
    expect(ran).toEqual([]);
    await decide(forThread);
    expect(ran).toHaveLength(1);
  });

  test("an answer that was refused once is not taken later, when there is a store", async () => {
    const options = { checkpointer: new MemorySaver(), interruptOn: { execute: { when: () => true } } };
    const without = shell([[run("ls")]], options);
    await without.ask();
    expect(requestOf(await without.decide(always)).error).toMatch(/no store/);
    const store = new InMemoryStore();
    const later = shell([], { ...options, store });
    expect(isWaiting(await later.decide(reject))).toBe(false);
    expect([without.ran, later.ran, await listApprovals(store)]).toEqual([[], [], []]);
  });

  test("an agent that came to have a store asks again rather than guess what was asked", async () => {
    const checkpointer = new MemorySaver();
    const without = shell([[run("ls")]], { checkpointer });
    await without.ask();
    const later = shell([], { checkpointer, store: new InMemoryStore() });
    expect(isWaiting(await later.decide(approve))).toBe(true);
    await later.decide(approve);
    expect([without.ran.length, later.ran.length]).toEqual([0, 1]);
  });

  test("a project that took it back while the question was open does not move the answers", async () => {
    const store = new InMemoryStore();
    const { ask, decide, ran } = shell([[run("ls")], [run("ls"), run("make")]], { store });
    await ask();
    await decide(always);
    expect(requestOf(await ask()).actionRequests).toMatchObject([{ args: { command: "make" } }]);
    const [known] = await listApprovals(store);
    await revokeApproval(store, "default", known?.id as string);
    await decide(reject);
    // What ran is what the question left out, not what was rejected.
    expect(ran.map(([, args]) => args)).toEqual([{ command: "ls" }, { command: "ls" }]);
  });

  test("what a gate asks about is remembered like the rest", async () => {
    const gate: CallGate = { watches: (name) => name === "execute", asks: () => ({ description: "Hm." }) };
    const options = { interruptOn: undefined, gates: [gate], store: new InMemoryStore() };
    const { ask, decide } = shell([[run("ls")], [run("ls")], [run("make")]], options);
    await ask();
    await decide(always);
    expect([isWaiting(await ask()), isWaiting(await ask())]).toEqual([false, true]);
  });

  test("a store that cannot keep an approval is a reason to ask again; nothing ran", async () => {
    const { ask, decide, ran } = shell([[run("ls")]], { store: storeThat("fails", isWrite) });
    await ask();
    expect(requestOf(await decide(always)).error).toMatch(/store could not keep the approval/);
    expect(ran).toEqual([]);
    await decide(approve);
    expect(ran).toHaveLength(1);
  });

  test.each(["fails", "is silent"] as const)(
    "a store that %s when an approval is looked up: the person is asked",
    async (what) => {
      const { ask, decide, ran } = shell([[run("ls")]], { store: storeThat(what, () => true) });
      expect(isWaiting(await ask())).toBe(true);
      await decide(approve);
      expect(ran).toHaveLength(1);
    },
  );

  test("an edit is not remembered", async () => {
    const { ask, decide } = shell([[run("ls")]], { store: new InMemoryStore() });
    await ask();
    const again = await decide({ ...edit("execute", { command: "pwd" }), remember: "always" });
    expect(requestOf(again).error).toMatch(/only an approval can be remembered/);
  });
});
